import React, { useId } from 'react';

import { SharePolicy, SharingNow } from '../../api/types';
import { useValue } from '../state/value';
import { Popup } from './Popup';
import { usePanel } from './context';

const POLICIES: readonly { policy: SharePolicy; label: string }[] = [
  { policy: 'always', label: 'Send' },
  { policy: 'ask', label: 'Ask me first' },
  { policy: 'never', label: 'Keep here' }
];

const KINDS = [
  {
    kind: 'outputs',
    locked: 'outputs',
    label: 'Outputs',
    about: 'what cells and code print and show, and messages of errors'
  },
  {
    kind: 'rowData',
    locked: 'row_data',
    label: 'Rows of data',
    about: 'tables in outputs, samples of data sets, data files'
  }
] as const;

/** What may go to the model in this session; what is kept stays visible to the person. */
export function SharingChoice(props: { sharing: SharingNow }): JSX.Element {
  const { model } = usePanel();
  const choices = useValue(model.choices);
  const now = {
    outputs: choices.outputs ?? props.sharing.outputs,
    rowData: choices.rowData ?? props.sharing.rowData
  };
  const id = useId();
  return (
    <Popup
      face={shareWords(now)}
      label="What may go to the model"
      title="What may go to the model in this session"
      role="dialog"
      placement="below"
      className="da-sharing"
      buttonTestId="da-sharing"
    >
      {() => (
        <>
          {KINDS.map(({ kind, locked, label, about }) => (
            <div className="da-sharing-row" key={kind}>
              <label htmlFor={`${id}-${kind}`}>{label}</label>
              <select
                id={`${id}-${kind}`}
                className="da-select"
                data-testid={`da-sharing-${kind}`}
                aria-describedby={`${id}-${kind}-about`}
                disabled={props.sharing.locked.includes(locked)}
                value={now[kind]}
                onChange={event =>
                  model.choices.choose({
                    [kind]: event.target.value as SharePolicy
                  })
                }
              >
                {POLICIES.map(({ policy, label: words }) => (
                  <option key={policy} value={policy}>
                    {words}
                  </option>
                ))}
              </select>
              <span className="da-dim" id={`${id}-${kind}-about`}>
                {about}
                {props.sharing.locked.includes(locked) &&
                  '. Set by the administrator'}
              </span>
            </div>
          ))}
          <p className="da-dim">
            Code, notes and messages are always sent. What is kept here you
            still see.
          </p>
        </>
      )}
    </Popup>
  );
}

/** What is sent, in two or three words. */
export function shareWords(now: {
  outputs: SharePolicy;
  rowData: SharePolicy;
}): string {
  const { outputs, rowData } = now;
  if (outputs !== 'always') {
    return outputs === 'ask' ? 'asks before outputs' : 'keeps outputs';
  }
  if (rowData !== 'always') {
    return rowData === 'ask' ? 'asks before rows' : 'keeps rows';
  }
  return 'sends outputs';
}
