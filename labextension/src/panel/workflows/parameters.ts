import { WorkflowInfo } from '../../api/types';
import { spoken } from '../../session/toolNames';

/** How a parameter of a workflow is asked for. */
export type FieldKind =
  | 'data'
  | 'text'
  | 'choice'
  | 'number'
  | 'switch'
  | 'json';

/** A field of a workflow's form, made from its JSON schema. */
export interface IField {
  name: string;
  label: string;
  help?: string;
  kind: FieldKind;
  isRequired: boolean;
  choices: readonly string[];
  initial: string;
}

/** The fields of a workflow: those that are asked for first, and those that may be left alone. */
export interface IForm {
  first: readonly IField[];
  more: readonly IField[];
}

const LABELS: Readonly<Record<string, string>> = {
  data: 'Data file',
  target: 'Target column',
  dateColumn: 'Date column',
  notebook: 'Notebook to write'
};

/** The form of a workflow: its data file and what it cannot do without come first. */
export function formOf({ parameters }: WorkflowInfo): IForm {
  const { properties, required } = parameters as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const fields = Object.entries(properties ?? {}).map(([name, schema]) =>
    fieldOf(name, (schema ?? {}) as ISchema, !!required?.includes(name))
  );
  const isFirst = ({ kind, isRequired }: IField) =>
    kind === 'data' || isRequired;
  return {
    first: fields.filter(isFirst),
    more: fields.filter(field => !isFirst(field))
  };
}

/** What was filled in, as the workflow's parameters; what is empty is left for it to find. */
export function parametersFrom(
  { first, more }: IForm,
  values: Readonly<Record<string, string>>
): Record<string, unknown> {
  const parameters: Record<string, unknown> = {};
  for (const field of [...first, ...more]) {
    const text = (values[field.name] ?? field.initial).trim();
    if (text) {
      parameters[field.name] = valueOf(field, text);
    } else if (field.kind === 'data' && !field.isRequired) {
      // Left out, the only data file there is would be taken.
      parameters[field.name] = null;
    }
  }
  return parameters;
}

/** What is wrong with what was filled in, by field. */
export function problemsIn(
  { first, more }: IForm,
  values: Readonly<Record<string, string>>
): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const field of [...first, ...more]) {
    const text = (values[field.name] ?? field.initial).trim();
    if (!text && field.isRequired) {
      problems[field.name] = `${field.label} is required.`;
    } else if (text && field.kind === 'number' && isNaN(Number(text))) {
      problems[field.name] = `${field.label} is a number.`;
    } else if (text && field.kind === 'json' && !isJson(text)) {
      problems[field.name] = `${field.label} is not valid JSON.`;
    }
  }
  return problems;
}

/** What the user says by running a workflow: "Exploratory data analysis of cars.csv". */
export function formatWorkflow(
  name: string,
  parameters: Readonly<Record<string, unknown>>
): string {
  const { data } = parameters;
  return typeof data === 'string' && data
    ? `${name} of ${data.split('/').pop()}`
    : name;
}

interface ISchema {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  anyOf?: ISchema[];
}

function fieldOf(name: string, schema: ISchema, isRequired: boolean): IField {
  // An optional value is "its type, or null".
  const inner = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  const choices = (inner.enum ?? []).map(String);
  const { description, default: initial } = schema;
  return {
    name,
    label: LABELS[name] ?? spoken(name),
    help: description ?? inner.description,
    kind: name === 'data' ? 'data' : kindOf(inner, choices),
    isRequired,
    choices,
    initial:
      initial === undefined || initial === null
        ? ''
        : typeof initial === 'object'
          ? JSON.stringify(initial)
          : String(initial)
  };
}

function kindOf({ type }: ISchema, choices: readonly string[]): FieldKind {
  if (choices.length) {
    return 'choice';
  }
  switch (type) {
    case 'string':
      return 'text';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'switch';
    default:
      return 'json';
  }
}

function valueOf({ kind }: IField, text: string): unknown {
  switch (kind) {
    case 'number':
      return Number(text);
    case 'switch':
      return text === 'true';
    case 'json':
      return JSON.parse(text) as unknown;
    default:
      return text;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
