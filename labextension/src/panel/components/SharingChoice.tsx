import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import React, { useId } from 'react';

import { SharePolicy, SharingNow } from '../../api/types';
import { Choices, IChoices } from '../choices';
import { useValue } from '../state/value';
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
    about: 'What cells and code print and show, and messages of errors'
  },
  {
    kind: 'rowData',
    locked: 'row_data',
    label: 'Rows of data',
    about: 'Tables in outputs, samples of data sets, data files'
  }
] as const;

/** What goes to the model in this session, in two words; a click opens the choice. */
export function SharingChoice(props: { sharing: SharingNow }): JSX.Element {
  const { model } = usePanel();
  const words = shareWords(sharedNow(useValue(model.choices), props.sharing));
  return (
    <button
      type="button"
      className="da-link da-sharing"
      data-testid="da-sharing"
      title="Choose what may go to the model in this session"
      onClick={() =>
        void showDialog({
          title: 'What may go to the model in this session',
          body: ReactWidget.create(
            <SharingForm choices={model.choices} sharing={props.sharing} />
          ),
          buttons: [Dialog.okButton({ label: 'Close' })]
        })
      }
    >
      {words}
    </button>
  );
}

/** A choice for outputs and one for rows of data; each holds at once. */
export function SharingForm(props: {
  choices: Choices;
  sharing: SharingNow;
}): JSX.Element {
  const { choices, sharing } = props;
  const now = sharedNow(useValue(choices), sharing);
  const id = useId();
  return (
    <div className="da-sharing-form">
      {KINDS.map(({ kind, locked, label, about }) => {
        const isLocked = sharing.locked.includes(locked);
        return (
          <React.Fragment key={kind}>
            <label htmlFor={`${id}-${kind}`}>{label}</label>
            <select
              id={`${id}-${kind}`}
              data-testid={`da-sharing-${kind}`}
              aria-describedby={`${id}-${kind}-about`}
              disabled={isLocked}
              value={now[kind]}
              onChange={event =>
                choices.choose({ [kind]: event.target.value as SharePolicy })
              }
            >
              {POLICIES.map(({ policy, label: words }) => (
                <option key={policy} value={policy}>
                  {words}
                </option>
              ))}
            </select>
            <p className="da-dim" id={`${id}-${kind}-about`}>
              {isLocked ? `${about}. Set by the administrator.` : about}
            </p>
          </React.Fragment>
        );
      })}
      <p className="da-dim">
        Code, notes and messages are always sent. What is kept here you still
        see.
      </p>
    </div>
  );
}

/** What the person chose, and where nothing is chosen what holds. */
function sharedNow(chosen: IChoices, sharing: SharingNow) {
  const { outputs, rowData, locked } = sharing;
  return {
    outputs: locked.includes('outputs') ? outputs : (chosen.outputs ?? outputs),
    rowData: locked.includes('row_data') ? rowData : (chosen.rowData ?? rowData)
  };
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
