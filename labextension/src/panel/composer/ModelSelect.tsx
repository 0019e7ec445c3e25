import {
  caretDownIcon,
  caretRightIcon,
  checkIcon
} from '@jupyterlab/ui-components';
import React, { useEffect, useId, useState } from 'react';

import { ModelInfo } from '../../api/types';
import { modelDetails, modelFacts, shortLabel } from './modelFacts';
import { readyModels } from './models';
import { ReasoningChoice } from './ReasoningChoice';
import { useValue } from '../../session/observable';
import { Popup } from '../Popup';
import { usePanel } from '../context';

/** With more models than this there is a field to find one. */
const MANY = 10;

/** The model of the next message; a click lists those that are ready, and apart those that are not. */
export function ModelSelect(): JSX.Element {
  const { model } = usePanel();
  const reply = useValue(model.models);
  const { model: chosen } = useValue(model.composerState);
  const current = chosen ?? reply?.default ?? '';
  const info = reply?.models.find(({ id }) => id === current);
  // Of a name that is not listed, what distinguishes it from others: the provider is in the title.
  const face = info ? shortLabel(info) : current.split('/').pop() || 'No model';
  return (
    <Popup
      face={face}
      className="da-model"
      label="Model"
      title={
        current
          ? `Model: ${[info?.label, current].filter(Boolean).join('\n')}`
          : 'No model is connected'
      }
      role="dialog"
      placement="above"
      buttonTestId="da-model-select"
    >
      {close => <ModelList current={current} close={close} />}
    </Popup>
  );
}

function ModelList(props: { current: string; close: () => void }): JSX.Element {
  const { current } = props;
  const { model } = usePanel();
  const reply = useValue(model.models);
  const [filter, setFilter] = useState('');
  useEffect(() => void model.refreshModels(), [model]);

  const all = reply?.models ?? [];
  const fits = ({ id, label, provider }: ModelInfo) =>
    `${id} ${label} ${provider}`.toLowerCase().includes(filter.toLowerCase());
  const isLocked = !!reply?.locked;
  const ready = reply && !isLocked ? readyModels(reply).filter(fits) : [];
  const unready = isLocked ? [] : all.filter(info => !info.ready && fits(info));
  const isOwn =
    !!current && (isLocked || !all.some(({ id }) => id === current));
  return (
    <>
      {isLocked && (
        <div className="da-dim da-padded">
          The model is set by the server administrator.
        </div>
      )}
      {all.length > MANY && !isLocked && (
        <input
          className="da-field"
          type="search"
          aria-label="Find a model"
          placeholder="Find a model"
          value={filter}
          onChange={event => setFilter(event.target.value)}
        />
      )}
      <ul className="da-models">
        {isOwn && !filter && (
          <ModelRow
            info={{ ...OWN, id: current, label: current }}
            isCurrent
            {...props}
          />
        )}
        {ready.map(info => (
          <ModelRow
            key={info.id}
            info={info}
            hint={info.id === reply?.default ? 'default' : undefined}
            isCurrent={info.id === current}
            close={props.close}
          />
        ))}
      </ul>
      {ready.length + unready.length === 0 && filter && (
        <div className="da-dim da-padded">
          No matching models. To use another one, enter it as provider/name in
          Settings, Agent.
        </div>
      )}
      {all.length > 0 && !isLocked && ready.length === 0 && !filter && (
        <div className="da-dim da-padded">No model is set up yet.</div>
      )}
      {unready.length > 0 && <NotSetUp models={unready} isFound={!!filter} />}
      <ReasoningChoice model={all.find(({ id }) => id === current)} />
      {reply?.canConnect && !isLocked && (
        <button
          type="button"
          className="da-menu-item"
          data-testid="da-connect-open"
          onClick={() => {
            props.close();
            model.toolsPanel.showConnect();
          }}
        >
          Connect a Model…
        </button>
      )}
    </>
  );
}

/** A model that the server does not list. */
const OWN: Omit<ModelInfo, 'id' | 'label'> = {
  provider: '',
  ready: true,
  vision: false
};

function ModelRow(props: {
  info: ModelInfo;
  hint?: string;
  isCurrent: boolean;
  close: () => void;
}): JSX.Element {
  const { model } = usePanel();
  const { hint, isCurrent } = props;
  const { id, label } = props.info;
  const facts = modelFacts(props.info);
  return (
    <li>
      <button
        type="button"
        className="da-menu-item da-mod-two-lines"
        title={modelDetails(props.info)}
        aria-current={isCurrent}
        onClick={() => {
          model.composerState.choose({ model: id });
          props.close();
        }}
      >
        <span className="da-session-title">{label}</span>
        {hint && <span className="da-dim">{hint}</span>}
        {isCurrent && (
          <checkIcon.react
            tag="span"
            className="da-status-icon"
            aria-hidden="true"
          />
        )}
        {facts.length > 0 && (
          <span className="da-menu-about da-dim">{facts.join(' · ')}</span>
        )}
      </button>
    </li>
  );
}

/** The models that nobody set up, folded, each with what it lacks. */
function NotSetUp(props: {
  models: ModelInfo[];
  isFound: boolean;
}): JSX.Element {
  const { models } = props;
  const [isWanted, setWanted] = useState(false);
  const id = useId();
  const isOpen = isWanted || props.isFound;
  const Caret = isOpen ? caretDownIcon.react : caretRightIcon.react;
  return (
    <>
      <button
        type="button"
        className="da-menu-item da-dim-item"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setWanted(!isWanted)}
      >
        {`Not set up (${models.length})`}
        <Caret tag="span" className="da-caret" aria-hidden="true" />
      </button>
      {isOpen && (
        <ul className="da-models" id={id}>
          {models.map(info => (
            <li key={info.id}>
              <button
                type="button"
                className="da-menu-item da-mod-unready"
                aria-disabled="true"
                title={`${modelDetails(info)}\n${info.reason ?? 'Not set up.'}`}
              >
                <span>{info.label}</span>
                <span className="da-dim">{unavailableReason(info)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** What a model lacks, in few words: "ANTHROPIC_API_KEY is not set". */
export function unavailableReason({ reason }: ModelInfo): string {
  const short = (reason ?? '').split(': ').pop()!.trim().replace(/\.$/, '');
  return short || 'not set up';
}
