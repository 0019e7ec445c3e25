import { FormComponent } from '@jupyterlab/ui-components';
import { ReadonlyJSONObject } from '@lumino/coreutils';
import type { JSONSchema7 } from 'json-schema';
import React, { useMemo, useState } from 'react';

import { SCHEMA_FORM } from '../ui/schemaForm';

type Values = Record<string, unknown>;

/** The fields of a flat schema, with the buttons under them. What is entered is kept nowhere else. */
export default function InputFields(props: {
  /** Distinguishes its fields from those of other forms. */
  id: string;
  schema: JSONSchema7;
  isDisabled: boolean;
  /** Called with the values that were entered, when they fit the schema. */
  onSubmit: (values: Values) => void;
  children: JSX.Element;
}): JSX.Element {
  const { id, schema, isDisabled, onSubmit, children } = props;
  const [values, setValues] = useState<Values>({});
  const uiSchema = useMemo(() => widgets(schema), [schema]);
  return (
    <div className="da-action-form">
      <FormComponent
        {...SCHEMA_FORM}
        schema={schema}
        uiSchema={uiSchema}
        formData={values as ReadonlyJSONObject}
        disabled={isDisabled}
        idPrefix={`da-input-${id}`}
        onChange={event => setValues(event.formData as Values)}
        onSubmit={event => onSubmit(entered(event.formData as Values))}
      >
        {children}
      </FormComponent>
    </div>
  );
}

/** Yes and no by words; several choices side by side. */
function widgets({ properties }: JSONSchema7): Record<string, object> {
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, field]) => {
      const { type } = field as JSONSchema7;
      const widget =
        type === 'boolean'
          ? 'select'
          : type === 'array'
            ? 'checkboxes'
            : undefined;
      return [name, { 'ui:widget': widget }];
    })
  );
}

/** The values without empty ones. */
function entered(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== undefined && value !== null && value !== ''
    )
  );
}
