import React, { RefObject, useId, useState } from 'react';

/** The values of `Pairs`: null where a value stays as it is on the server. */
export function readPairs(
  frame: HTMLElement | null
): Record<string, string | null> {
  const pairs: Record<string, string | null> = {};
  for (const row of frame?.querySelectorAll<HTMLElement>('[data-pair]') ?? []) {
    const [name, value] = [...row.querySelectorAll('input')].map(
      field => field.value
    );
    if (name.trim()) {
      pairs[name.trim()] = value || (row.dataset.pair ? null : '');
    }
  }
  return pairs;
}

/**
 * Names with values, which may be secrets: these are in their fields alone, and never in the page's
 * state. What is known of the server's are the names.
 */
export function Pairs(props: {
  frame: RefObject<HTMLDivElement>;
  label: string;
  hint: string;
  known: readonly string[];
}): JSX.Element {
  const [rows, setRows] = useState(() =>
    props.known.map((name, key) => ({ key, name }))
  );
  const id = useId();
  return (
    <div className="da-form-field" ref={props.frame}>
      <label id={id}>{props.label}</label>
      {rows.map(({ key, name }) => (
        <div
          key={key}
          className="da-mcp-pair"
          role="group"
          aria-labelledby={id}
          data-pair={name}
        >
          <input
            className="da-field"
            type="text"
            aria-label="Name"
            placeholder="NAME"
            autoComplete="off"
            spellCheck={false}
            defaultValue={name}
            readOnly={!!name}
            data-testid="da-mcp-pair-name"
          />
          <input
            className="da-field"
            type="password"
            aria-label={`Value${name ? ` of ${name}` : ''}`}
            placeholder={name ? 'unchanged' : 'value, or ${env:NAME}'}
            autoComplete="off"
            spellCheck={false}
            data-testid="da-mcp-pair-value"
          />
          <button
            type="button"
            className="da-link"
            aria-label={`Remove ${name || 'this row'}`}
            onClick={() => setRows(rows.filter(each => each.key !== key))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        className="da-link"
        data-testid="da-mcp-pair-add"
        onClick={() =>
          setRows([
            ...rows,
            { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, name: '' }
          ])
        }
      >
        Add
      </button>
      <div className="da-help">{props.hint}</div>
    </div>
  );
}
