import React, { Fragment } from 'react';

/** What an answer took; a line breaks between two figures, never within one. */
export function Used(props: { parts: readonly string[] }): JSX.Element {
  const { parts } = props;
  return (
    <span className="da-used">
      {parts.map((part, index) => (
        <Fragment key={index}>
          <span>{index < parts.length - 1 ? `${part} ·` : part}</span>{' '}
        </Fragment>
      ))}
    </span>
  );
}
