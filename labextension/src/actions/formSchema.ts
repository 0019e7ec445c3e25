import type { JSONSchema7 } from 'json-schema';

import { ActionParameter, ActionProposal } from '../api/types';

/** A form as JupyterLab's `FormComponent` takes it. */
export interface IForm {
  schema: JSONSchema7;
  uiSchema: Record<string, Record<string, unknown>>;
}

/** The form of a proposal: first what is required and missing, then what is known, then the rest. */
export function formOf({ parameters }: ActionProposal): IForm {
  const ordered = [...parameters].sort((a, b) => rank(a) - rank(b));
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(
        ordered.map(each => [each.name, fieldSchema(each)])
      ),
      required: ordered.filter(each => each.required).map(({ name }) => name)
    },
    uiSchema: Object.fromEntries(
      ordered.map(each => [each.name, { 'ui:widget': widgetOf(each) }])
    )
  };
}

/** The values that are known. A secret has none. */
export function valuesOf({
  parameters
}: ActionProposal): Record<string, unknown> {
  return Object.fromEntries(
    parameters
      .filter(({ secret, value }) => !secret && value !== undefined)
      .map(({ name, value }) => [name, value])
  );
}

/** What is wrong with values that were given, as the form shows it. */
export function problemsOf({
  parameters
}: ActionProposal): Record<string, { __errors: string[] }> {
  return Object.fromEntries(
    parameters.flatMap(({ name, problem }) =>
      problem ? [[name, { __errors: [problem] }]] : []
    )
  );
}

/** The values without those that are asked for no longer, and without empty ones. */
export function given(
  values: Record<string, unknown>,
  { parameters }: ActionProposal
): Record<string, unknown> {
  const names = new Set(parameters.map(({ name }) => name));
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) =>
        names.has(name) && value !== undefined && value !== '' && value !== null
    )
  );
}

function rank({ found, required }: ActionParameter): number {
  return found ? 1 : required ? 0 : 2;
}

/** The schema of a field; one that may be null is one that may stay empty. */
function fieldSchema({ title, ...parameter }: ActionParameter): JSONSchema7 {
  const { anyOf, ...own } = (parameter.schema ?? {}) as JSONSchema7;
  const real = anyOf?.filter(
    each => typeof each === 'object' && each.type !== 'null'
  );
  const schema: JSONSchema7 =
    real?.length === 1
      ? { ...own, ...(real[0] as JSONSchema7) }
      : { ...own, ...(anyOf ? { anyOf } : {}) };
  const { default: initial, ...others } = schema;
  const { items } = others;
  return typed({
    ...others,
    ...(initial === null || initial === undefined ? {} : { default: initial }),
    ...(isChoice(items) ? { items: typed(items) } : {}),
    title
  });
}

/** Choices need the type of their values, without which no field is drawn. */
function typed(schema: JSONSchema7): JSONSchema7 {
  const first = schema.oneOf?.[0];
  const value = typeof first === 'object' ? first.const : undefined;
  return schema.type || value === undefined || value === null
    ? schema
    : { ...schema, type: typeof value as 'string' | 'number' | 'boolean' };
}

function isChoice(items: JSONSchema7['items']): items is JSONSchema7 {
  return typeof items === 'object' && !Array.isArray(items) && !!items.oneOf;
}

function widgetOf({
  secret,
  ...parameter
}: ActionParameter): string | undefined {
  const { type, items } = (parameter.schema ?? {}) as JSONSchema7;
  if (secret) {
    return 'password';
  }
  if (type === 'boolean') {
    return 'select';
  }
  return isChoice(items) ? 'checkboxes' : undefined;
}
