import { caretLeftIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useRef, useState } from 'react';

import { IReference, unavailableReason } from './references';
import { useValue } from '../../../session/observable';
import { usePanel } from '../../context';
import { toolText, useTools } from '../toolState';

/** How many are listed; `@` in the input finds the others. */
const MOST = 100;

/** A list in place of the paperclip's own: its title leads back. */
export function SubList(props: {
  title: string;
  onBack: () => void;
  children: React.ReactNode;
}): JSX.Element {
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => back.current?.focus(), []);
  return (
    <>
      <button
        ref={back}
        type="button"
        role="menuitem"
        className="da-menu-item da-menu-back"
        aria-label={`Back from ${props.title}`}
        onClick={props.onBack}
        onKeyDown={event => event.key === 'ArrowLeft' && props.onBack()}
      >
        <span className="da-menu-title">
          <caretLeftIcon.react tag="span" className="da-chip-icon" />
          {props.title}
        </span>
      </button>
      {props.children}
    </>
  );
}

/** References that are attached by a click. */
export function ReferenceList(props: {
  load: () => IReference[] | Promise<IReference[]>;
  none: string;
  close: () => void;
}): JSX.Element {
  const { model } = usePanel();
  useValue(model.composerState);
  const [found, setFound] = useState<readonly IReference[] | null>(null);
  const { load } = props;
  useEffect(() => {
    let isCurrent = true;
    void Promise.resolve(load()).then(list => isCurrent && setFound(list));
    return () => {
      isCurrent = false;
    };
    // Asked once: the list is for one look.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  if (!found?.length) {
    return (
      <p className="da-dim da-menu-note">{found ? props.none : 'Loading'}</p>
    );
  }
  return (
    <>
      {found.slice(0, MOST).map(({ kind, mention, description, attachment }) =>
        attachment ? (
          <button
            key={`${kind} ${mention}`}
            type="button"
            role="menuitem"
            className="da-menu-item"
            title={description}
            disabled={model.composerState.has(attachment)}
            onClick={() => {
              model.composerState.attach(attachment);
              props.close();
            }}
          >
            <span className="da-menu-name">{nameOf(kind, mention)}</span>
            <span className="da-dim da-menu-about">
              {model.composerState.has(attachment) ? 'attached' : description}
            </span>
          </button>
        ) : (
          <p key={description} className="da-dim da-menu-note">
            {description}
          </p>
        )
      )}
      {found.length > MOST && (
        <p className="da-dim da-menu-note">
          {`${found.length - MOST} more: type @ in the message to find them`}
        </p>
      )}
    </>
  );
}

/** The tools; one that cannot be used now is grey, with the reason. */
export function ToolList(props: { close: () => void }): JSX.Element {
  const { model } = usePanel();
  const { mode, tools: chosen } = useValue(model.composerState);
  const tools = useTools(true);
  const sorted = [...tools].sort(
    (a, b) => Number(b.enabled) - Number(a.enabled)
  );
  return (
    <>
      {sorted.map(tool => (
        <button
          key={tool.name}
          type="button"
          role="menuitemcheckbox"
          aria-checked={chosen.includes(tool.name)}
          className={`da-menu-item da-mod-two-lines${tool.enabled ? '' : ' da-mod-unavailable'}`}
          onClick={() => {
            model.composerState.toggleTool(tool.name);
            props.close();
          }}
        >
          <span className="da-menu-name">{`#${tool.name}`}</span>
          <span className="da-dim da-menu-about">
            {[
              toolText(tool),
              ...(tool.enabled ? [] : [unavailableReason(tool, mode)])
            ].join(' · ')}
          </span>
        </button>
      ))}
    </>
  );
}

/** "cell:3" as a user says it. */
function nameOf(kind: IReference['kind'], mention: string): string {
  const name = mention.slice(mention.indexOf(':') + 1);
  switch (kind) {
    case 'cell':
      return `Cell ${name}`;
    case 'output':
      return `Output ${name}`;
    default:
      return name;
  }
}
