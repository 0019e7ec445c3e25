import { ReadonlyJSONObject } from '@lumino/coreutils';
import type { FieldTemplateProps, RJSFValidationError } from '@rjsf/utils';
import React from 'react';

/** A field with its label above it, so that it has a name for everybody and room in a sidebar. */
export function FormField(
  props: FieldTemplateProps<ReadonlyJSONObject>
): JSX.Element {
  const { id, label, schema, rawErrors, required, children, hidden } = props;
  if (hidden || !props.displayLabel) {
    return <>{children}</>;
  }
  const isGroup = schema.type === 'array';
  const name = (
    <>
      {label}
      {!required && <span className="da-dim"> (optional)</span>}
    </>
  );
  return (
    <div
      className="da-form-field"
      role={isGroup ? 'group' : undefined}
      aria-labelledby={isGroup ? `${id}__label` : undefined}
      data-invalid={!!rawErrors?.length}
    >
      {isGroup ? (
        <span className="da-form-label" id={`${id}__label`}>
          {name}
        </span>
      ) : (
        <label htmlFor={id}>{name}</label>
      )}
      {children}
      {schema.description && (
        <div id={`${id}__description`} className="da-help">
          {schema.description}
        </div>
      )}
      {rawErrors?.map(problem => (
        <div
          key={problem}
          id={`${id}__error`}
          className="da-problem"
          role="alert"
        >
          {problem}
        </div>
      ))}
    </div>
  );
}

/** What is wrong with values, in words for people. */
export function readable(errors: RJSFValidationError[]): RJSFValidationError[] {
  return errors.map(error =>
    error.name === 'required' || error.name === 'oneOf'
      ? { ...error, message: 'This field is required.' }
      : error
  );
}
