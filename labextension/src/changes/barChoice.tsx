import React from 'react';

/** A button of a bar. */
export function Choice(props: {
  label: string;
  title: string;
  act: () => void;
  name?: string;
  isDisabled?: boolean;
}): JSX.Element {
  return (
    <button
      type="button"
      className="da-nb-button"
      title={props.title}
      aria-label={props.name}
      disabled={props.isDisabled}
      onClick={props.act}
    >
      {props.label}
    </button>
  );
}
