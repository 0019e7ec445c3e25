import React, { useId, useState } from 'react';

import { IField } from './parameters';

/** Says in a list of files that another one is meant. */
const OTHER = '\u0000other';

/** Properties of a `Field`. */
export interface IFieldProps {
  field: IField;
  value: string;
  /** Data files to choose from; null until they were looked for. */
  files: readonly string[] | null;
  problem?: string;
  onChange: (value: string) => void;
}

/** One field of a form, with what it is for and what is wrong with it. */
export function Field(props: IFieldProps): JSX.Element {
  const { field, problem } = props;
  const id = useId();
  const notes = [field.help && `${id}-help`, problem && `${id}-problem`]
    .filter(Boolean)
    .join(' ');
  const common = {
    id,
    'aria-describedby': notes || undefined,
    'aria-invalid': problem ? true : undefined,
    'aria-required': field.isRequired || undefined,
    name: field.name
  };
  return (
    <div className="da-form-field">
      <label htmlFor={id}>{field.label}</label>
      {field.kind === 'data' ? (
        <FileChoice {...props} common={common} />
      ) : field.kind === 'choice' ? (
        <Select {...props} common={common} options={field.choices} />
      ) : field.kind === 'switch' ? (
        <Select {...props} common={common} options={['true', 'false']} />
      ) : (
        <Text {...props} common={common} />
      )}
      {field.help && (
        <div id={`${id}-help`} className="da-help">
          {field.help}
        </div>
      )}
      {problem && (
        <div id={`${id}-problem`} className="da-problem" role="alert">
          {problem}
        </div>
      )}
    </div>
  );
}

type ICommon = React.AriaAttributes & { id: string; name: string };

function Text(props: IFieldProps & { common: ICommon }): JSX.Element {
  const { field, value, common, onChange } = props;
  return (
    <input
      {...common}
      className="da-field"
      inputMode={field.kind === 'number' ? 'decimal' : undefined}
      value={value}
      autoComplete="off"
      spellCheck={false}
      onChange={event => onChange(event.target.value)}
    />
  );
}

function Select(
  props: IFieldProps & { common: ICommon; options: readonly string[] }
): JSX.Element {
  const { field, value, common, options, onChange } = props;
  const labels = { true: 'Yes', false: 'No' } as Record<string, string>;
  return (
    <select
      {...common}
      className="da-field"
      value={value}
      onChange={event => onChange(event.target.value)}
    >
      {(!field.isRequired || !value) && (
        <option value="">{field.isRequired ? 'Choose' : 'Inferred'}</option>
      )}
      {options.map(option => (
        <option key={option} value={option}>
          {field.kind === 'switch' ? labels[option] : option}
        </option>
      ))}
    </select>
  );
}

/** The data files that were found, and a way to name another one. */
function FileChoice(props: IFieldProps & { common: ICommon }): JSX.Element {
  const { field, value, files, common, onChange } = props;
  const [isOther, setOther] = useState(false);
  if (!files) {
    return (
      <select {...common} className="da-field" disabled>
        <option>Looking for data files</option>
      </select>
    );
  }
  if (!files.length || isOther) {
    return (
      <input
        {...common}
        className="da-field"
        placeholder="folder/file.csv"
        value={value}
        autoFocus={isOther}
        autoComplete="off"
        spellCheck={false}
        onChange={event => onChange(event.target.value)}
      />
    );
  }
  return (
    <select
      {...common}
      className="da-field"
      value={value}
      onChange={event => {
        const isOther = event.target.value === OTHER;
        setOther(isOther);
        onChange(isOther ? '' : event.target.value);
      }}
    >
      {(!field.isRequired || !value) && (
        <option value="">
          {field.isRequired ? 'Choose a file' : 'None: a skeleton'}
        </option>
      )}
      {files.map(file => (
        <option key={file} value={file}>
          {file}
        </option>
      ))}
      <option value={OTHER}>Another file …</option>
    </select>
  );
}
