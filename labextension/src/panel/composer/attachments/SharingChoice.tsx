import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import React, { useId } from 'react';

import { SharePolicy, SharingNow } from '../../../api/types';
import { ComposerState, IComposerState } from '../composerState';
import { useValue } from '../../../session/observable';
import { usePanel } from '../../context';

const POLICIES: readonly { policy: SharePolicy; label: string }[] = [
  { policy: 'always', label: 'Send' },
  { policy: 'ask', label: 'Ask me first' },
  { policy: 'never', label: 'Never send' }
];

const KINDS = [
  {
    kind: 'outputs',
    locked: 'outputs',
    label: 'Outputs',
    about: 'Printed and displayed output, and error messages'
  },
  {
    kind: 'rowData',
    locked: 'row_data',
    label: 'Data rows',
    about: 'Tables in outputs, data set samples, data files'
  }
] as const;

/** What goes to the model in this session, in two words; a click opens the choice. */
export function SharingChoice(props: { sharing: SharingNow }): JSX.Element {
  const { model } = usePanel();
  const label = sharingLabel(
    sharedNow(useValue(model.composerState), props.sharing)
  );
  return (
    <button
      type="button"
      className="da-link da-sharing"
      data-testid="da-sharing"
      title="Choose what is shared with the model in this session"
      onClick={() =>
        void showDialog({
          title: 'Data shared with the model in this session',
          body: ReactWidget.create(
            <SharingForm
              composerState={model.composerState}
              sharing={props.sharing}
            />
          ),
          buttons: [Dialog.okButton({ label: 'Close' })]
        })
      }
    >
      {label}
    </button>
  );
}

/** A choice for outputs and one for rows of data; each holds at once. */
export function SharingForm(props: {
  composerState: ComposerState;
  sharing: SharingNow;
}): JSX.Element {
  const { composerState, sharing } = props;
  const now = sharedNow(useValue(composerState), sharing);
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
                composerState.choose({
                  [kind]: event.target.value as SharePolicy
                })
              }
            >
              {POLICIES.map(({ policy, label: option }) => (
                <option key={policy} value={policy}>
                  {option}
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
        Code, notes and messages are always sent. You still see what is not
        sent.
      </p>
    </div>
  );
}

/** What the user chose, and where nothing is chosen what holds. */
function sharedNow(chosen: IComposerState, sharing: SharingNow) {
  const { outputs, rowData, locked } = sharing;
  return {
    outputs: locked.includes('outputs') ? outputs : (chosen.outputs ?? outputs),
    rowData: locked.includes('row_data') ? rowData : (chosen.rowData ?? rowData)
  };
}

/** What is sent, in two or three words. */
export function sharingLabel(now: {
  outputs: SharePolicy;
  rowData: SharePolicy;
}): string {
  const { outputs, rowData } = now;
  if (outputs !== 'always') {
    return outputs === 'ask' ? 'outputs: ask first' : 'outputs: not sent';
  }
  if (rowData !== 'always') {
    return rowData === 'ask' ? 'data rows: ask first' : 'data rows: not sent';
  }
  return 'outputs: sent';
}
