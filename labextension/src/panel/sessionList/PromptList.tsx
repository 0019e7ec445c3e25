import { PathExt } from '@jupyterlab/coreutils';
import { listIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useMemo, useState } from 'react';

import { ChangedPath, PromptStep } from '../../api/types';
import { useValue } from '../../session/observable';
import { Popup } from '../Popup';
import { SessionUse } from './SessionUse';
import { LongList } from '../../ui/LongList';
import { usePanel } from '../context';

/** As high as a row is drawn, in pixels. */
const ROW = 28;
const ROW_WITH_CHANGES = 44;

/** Every message of the conversation, to jump to it and to what it changed. */
export function PromptList(): JSX.Element | null {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { turnIds } = useValue(store.conversation);
  return (
    <Popup
      icon={listIcon}
      label="Steps of this session"
      role="dialog"
      placement="below"
      testId="da-prompt-list"
      disabled={!turnIds.length}
    >
      {close => <Prompts close={close} />}
    </Popup>
  );
}

function Prompts(props: { close: () => void }): JSX.Element {
  const { model } = usePanel();
  const { sessionId, store } = useValue(model.shown);
  const { turnIds } = useValue(store.conversation);
  const [prompts, setPrompts] = useState<PromptStep[] | null>(null);
  const [failure, setFailure] = useState('');
  const [query, setQuery] = useState('');
  const newest = turnIds[turnIds.length - 1];

  useEffect(() => {
    let isCurrent = true;
    model.client.listPrompts(sessionId ?? '').then(
      reply => isCurrent && setPrompts(reply.prompts),
      (error: Error) => isCurrent && setFailure(error.message)
    );
    return () => {
      isCurrent = false;
    };
  }, [model, sessionId, newest]);

  const found = useMemo(() => {
    const label = query.trim().toLowerCase();
    return (prompts ?? []).filter(
      ({ message, changes = [] }) =>
        message.toLowerCase().includes(label) ||
        changes.some(({ path }) => path.toLowerCase().includes(label))
    );
  }, [prompts, query]);

  return (
    <>
      <input
        className="da-field"
        type="search"
        aria-label="Find a step"
        placeholder="Find a step"
        value={query}
        onChange={event => setQuery(event.target.value)}
      />
      {failure && <div className="da-notice da-mod-error">{failure}</div>}
      {prompts && !found.length && (
        <div className="da-dim da-padded">No matching steps.</div>
      )}
      <LongList
        label="Steps"
        items={found}
        heightOf={heightOf}
        startAtEnd
        keyOf={prompt => prompt.turnId}
        row={prompt => (
          <Step
            prompt={prompt}
            onGo={() => {
              props.close();
              void model.sessions.goTo(prompt.turnId);
            }}
            onReveal={path => {
              props.close();
              void model.history.revealChange(prompt.turnId, path);
            }}
          />
        )}
      />
      <SessionUse />
    </>
  );
}

function Step(props: {
  prompt: PromptStep;
  onGo: () => void;
  onReveal: (path: string) => void;
}): JSX.Element {
  const { index, message, changes = [], withdrawn } = props.prompt;
  const label = message || 'Workflow';
  return (
    <div className="da-step-row" data-withdrawn={withdrawn}>
      <button
        type="button"
        className="da-menu-item"
        title={withdrawn ? `${label} (reverted)` : label}
        onClick={props.onGo}
      >
        <span className="da-step-number">{index + 1}</span>
        <span className="da-session-title">{label}</span>
      </button>
      {changes.length > 0 && (
        <span className="da-step-changes">
          {changes.map(change => (
            <button
              key={change.path}
              type="button"
              className="da-link"
              title={`Go to its changes in ${change.path}`}
              onClick={() => props.onReveal(change.path)}
            >
              {changedPathLabel(change)}
            </button>
          ))}
        </span>
      )}
    </div>
  );
}

function heightOf({ changes = [] }: PromptStep): number {
  return changes.length ? ROW_WITH_CHANGES : ROW;
}

/** "cars.ipynb · 3 cells". */
function changedPathLabel({ path, cells }: ChangedPath): string {
  const name = PathExt.basename(path);
  return cells ? `${name} · ${cells} ${cells === 1 ? 'cell' : 'cells'}` : name;
}
