import { PathExt } from '@jupyterlab/coreutils';
import React from 'react';

import { IEditor } from '../editor';
import { PanelModel } from '../model';
import { ITurn } from '../state/turn';
import { useValue } from '../state/value';
import { useEditorChanges } from './editorChanges';
import { useComposer } from './composerContext';
import { usePanel } from './context';

/** Under the newest turn, where the gate let it change nothing: what was missing, added by a click. */
export function Refused(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const { model } = usePanel();
  const composer = useComposer();
  const { store } = useValue(model.shown);
  const { turnIds, runningTurnId } = useValue(store.conversation);
  useValue(model.choices);
  useEditorChanges();
  const isNewest = turnIds[turnIds.length - 1] === turn.id;
  // One that changed something found another way.
  const isOver = !isNewest || !!runningTurnId || turn.changes.length > 0;
  const remedies = isOver || !turn.message ? [] : remediesOf(turn, model);
  return remedies.length ? (
    <div className="da-buttons">
      {remedies.map(({ label, act }) => (
        <button
          key={label}
          type="button"
          className="da-button"
          data-testid="da-add-and-send"
          onClick={() => {
            composer.focus();
            void act().then(() => model.sendAgain(turn));
          }}
        >
          {`${label} and send again`}
        </button>
      ))}
    </div>
  ) : null;
}

interface IRemedy {
  label: string;
  act: () => Promise<void>;
}

/** What a turn lacked that the next message would still lack. */
function remediesOf(turn: ITurn, model: PanelModel): IRemedy[] {
  const { choices } = model;
  const lacks = new Set(
    turn.entries.map(entry => (entry.kind === 'tool' ? entry.needs : undefined))
  );
  if (lacks.has('notebook')) {
    return notebookRemedies(model);
  }
  return lacks.has('mode') && choices.current.mode !== 'agent'
    ? [
        {
          label: 'Switch to Agent mode',
          act: async () => model.setMode('agent')
        }
      ]
    : [];
}

/** To go to the notebook that is attached, or to attach the one in front. */
function notebookRemedies({ choices, editor }: PanelModel): IRemedy[] {
  const active = editor.activeNotebook;
  if (active && choices.hasNotebook(active)) {
    return [];
  }
  const remedies = choices.current.attachments.flatMap(({ kind, path }) =>
    kind === 'notebook' && path
      ? [
          {
            label: `Open ${PathExt.basename(path)}`,
            act: async () => {
              await editor.reveal(path);
              await untilInFront(editor, path);
            }
          }
        ]
      : []
  );
  if (active) {
    remedies.push({
      label: `Attach ${PathExt.basename(active)}`,
      act: async () => choices.attach({ kind: 'notebook', path: active })
    });
  }
  return remedies;
}

/** A notebook that opens is in front a moment later. */
function untilInFront(editor: IEditor, path: string): Promise<void> {
  return new Promise(resolve => {
    const look = () => {
      if (editor.activeNotebook === path) {
        editor.changed.disconnect(look);
        resolve();
      }
    };
    editor.changed.connect(look);
    look();
  });
}
