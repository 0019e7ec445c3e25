import React from 'react';

import { asksForCells } from '../../proposals/aboutNotebook';
import { PanelModel } from '../model';
import { IRemedy, notebookRemedies } from '../composer/notebookQuestion';
import { ITurn } from '../../session/turn';
import { useValue } from '../../session/observable';
import { useEditorChanges } from '../composer/editorChanges';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';

/** Under the newest turn, where the gate let it change nothing: what was missing, added by a click. */
export function Refused(props: { turn: ITurn }): JSX.Element | null {
  const { turn } = props;
  const { model } = usePanel();
  const composer = useComposer();
  const { store } = useValue(model.shown);
  const { turnIds, runningTurnId } = useValue(store.conversation);
  useValue(model.composerState);
  useEditorChanges();
  const isNewest = turnIds[turnIds.length - 1] === turn.id;
  // One that changed something found another way.
  const isOver = !isNewest || !!runningTurnId || turn.changes.length > 0;
  const remedies = isOver || !turn.message ? [] : remediesOf(turn, model);
  return remedies.length ? (
    <div className="da-buttons">
      {remedies.map(({ label, act, notebook }) => (
        <button
          key={label}
          type="button"
          className="da-button"
          data-testid="da-add-and-send"
          onClick={() => {
            composer.focus();
            const ready = act();
            const { submitted } = model.messages;
            const activeNotebook = notebook ?? submitted.activeNotebook;
            void ready.then(() =>
              model.sendAgain(turn, { ...submitted, activeNotebook })
            );
          }}
        >
          {`${label} and send again`}
        </button>
      ))}
    </div>
  ) : null;
}

/** What a turn lacked that the next message would still lack. */
function remediesOf(turn: ITurn, model: PanelModel): IRemedy[] {
  const { composerState } = model;
  const lacks = new Set(
    turn.entries.map(entry => (entry.kind === 'tool' ? entry.needs : undefined))
  );
  if (lacks.has('notebook')) {
    return notebookRemedies(model);
  }
  const active = model.editor.activeNotebook;
  // A model that has only tools that read may not try, and say so.
  const isMeant = turn.mode === 'ask' && !!active && asksForCells(turn.message);
  if (
    composerState.current.mode === 'agent' ||
    !(lacks.has('mode') || isMeant)
  ) {
    return [];
  }
  return [
    {
      label: 'Switch to Agent mode',
      act: async () => {
        if (active && isMeant) {
          composerState.attach({ kind: 'notebook', path: active });
        }
        composerState.choose({ mode: 'agent' });
      }
    }
  ];
}
