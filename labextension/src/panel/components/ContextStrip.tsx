import { PathExt } from '@jupyterlab/coreutils';
import {
  addIcon,
  closeIcon,
  codeIcon,
  consoleIcon,
  fileIcon,
  notebookIcon,
  spreadsheetIcon
} from '@jupyterlab/ui-components';
import React, { useEffect, useState } from 'react';

import { Attachment, ContextReply, Mode } from '../../api/types';
import { toolIcon, variableIcon } from '../icons';
import { useValue } from '../state/value';
import { countShort } from '../state/words';
import { IconButton } from './IconButton';
import { SharingChoice } from './SharingChoice';
import { showWhatIsSent, totalTokens } from './WhatIsSent';
import { usePanel } from './context';
import { useEditorChanges } from './editorChanges';
import { lacksOf, useTools } from './toolState';

/** What the next message takes along: attachments, the notebook's state, the context's size. */
export function ContextStrip(props: {
  onOpen: (attachment: Attachment) => void;
}): JSX.Element {
  const { model } = usePanel();
  const { editor } = model;
  const { attachments, mode, tools } = useValue(model.choices);
  const listed = useTools(tools.length > 0);
  const lacks = new Map(
    lacksOf(tools, listed, mode).map(({ name, words }) => [name, words])
  );
  useEditorChanges();
  const active = editor.activeNotebook;
  const kernel = active ? editor.kernel(active) : null;
  return (
    <div className="da-context" role="group" aria-label="Context">
      {attachments.map(attachment => (
        <Chip
          key={`${attachment.kind}:${attachment.path ?? attachment.name}:${attachment.cellId}`}
          attachment={attachment}
          state={notebookState(attachment, active, mode)}
          onOpen={() => props.onOpen(attachment)}
          onRemove={() => model.choices.detach(attachment)}
        />
      ))}
      {tools.map(name => (
        <ToolChip key={name} name={name} lack={lacks.get(name)} />
      ))}
      {active && !model.choices.hasNotebook(active) && (
        <button
          type="button"
          className="da-chip da-mod-offer"
          title={`Attach ${active}, so that the agent sees it`}
          onClick={() =>
            model.choices.attach({ kind: 'notebook', path: active })
          }
        >
          <addIcon.react tag="span" className="da-chip-icon" />
          <span className="da-chip-name">{PathExt.basename(active)}</span>
        </button>
      )}
      {kernel && (
        <span className="da-dim da-kernel" title={`Kernel: ${kernel.name}`}>
          {kernelWords(kernel.status)}
        </span>
      )}
      <ContextSize active={active} />
    </div>
  );
}

const ICONS = {
  notebook: notebookIcon,
  file: fileIcon,
  cell: codeIcon,
  output: consoleIcon,
  dataset: spreadsheetIcon,
  variable: variableIcon
};

function Chip(props: {
  attachment: Attachment;
  state: INotebookState | null;
  onOpen: () => void;
  onRemove: () => void;
}): JSX.Element {
  const { attachment, state } = props;
  const { editor } = usePanel().model;
  const name = nameOf(attachment, (path, id) => editor.cell(path, id)?.number);
  const Icon = ICONS[attachment.kind];
  return (
    <span
      className={`da-chip${state?.isOn ? ' da-mod-on' : ''}`}
      data-testid="da-attachment"
      data-kind={attachment.kind}
      data-path={attachment.path}
      data-notebook-mode={state?.mode}
    >
      <button
        type="button"
        className="da-chip-main"
        title={`${attachment.path ?? name}${state ? `: ${state.title}` : ''}`}
        onClick={props.onOpen}
        onKeyDown={event =>
          (event.key === 'Delete' || event.key === 'Backspace') &&
          props.onRemove()
        }
      >
        <Icon.react tag="span" className="da-chip-icon" />
        <span className="da-chip-name">{name}</span>
        {state && <span className="da-chip-state">{state.words}</span>}
      </button>
      <IconButton
        icon={closeIcon}
        label={`Remove ${name}`}
        className="da-chip-remove"
        onClick={props.onRemove}
      />
    </span>
  );
}

/** A tool that the next message means; grey where it cannot be used. */
function ToolChip(props: { name: string; lack?: string }): JSX.Element {
  const { name, lack } = props;
  const { model } = usePanel();
  const remove = () => model.choices.toggleTool(name);
  return (
    <span
      className={`da-chip${lack ? ' da-mod-unavailable' : ''}`}
      data-testid="da-attachment"
      data-kind="tool"
    >
      <button
        type="button"
        className="da-chip-main"
        title={`#${name}: meant for the next message${lack ? `, but ${lack}` : ''}`}
        onKeyDown={event =>
          (event.key === 'Delete' || event.key === 'Backspace') && remove()
        }
      >
        <toolIcon.react tag="span" className="da-chip-icon" />
        <span className="da-chip-name">{`#${name}`}</span>
        {lack && <span className="da-chip-state">{lack}</span>}
      </button>
      <IconButton
        icon={closeIcon}
        label={`Remove #${name}`}
        className="da-chip-remove"
        onClick={remove}
      />
    </span>
  );
}

/** Whether notebook mode is on for an attached notebook, and if not, why. */
interface INotebookState {
  isOn: boolean;
  mode: 'off' | 'read-only' | 'full';
  words: string;
  title: string;
}

function notebookState(
  attachment: Attachment,
  active: string | null,
  mode: Mode
): INotebookState | null {
  if (attachment.kind !== 'notebook') {
    return null;
  }
  if (attachment.path !== active) {
    return {
      isOn: false,
      mode: 'off',
      words: 'open it',
      title: 'open it to let the agent see it'
    };
  }
  return mode === 'agent'
    ? {
        isOn: true,
        mode: 'full',
        words: 'can edit',
        title: 'notebook mode is on: the agent can read, change and run it'
      }
    : {
        isOn: true,
        mode: 'read-only',
        words: 'can read',
        title:
          'notebook mode is on: the agent can read it; Agent mode can change and run it'
      };
}

/** How many tokens the next message takes along; a click shows what exactly will be sent. */
function ContextSize(props: { active: string | null }): JSX.Element | null {
  const { model } = usePanel();
  const choices = useValue(model.choices);
  const { sessionId, store } = useValue(model.shown);
  const { runningTurnId, turnIds, withdrawn } = useValue(store.conversation);
  const compactions = useValue(store.compactions);
  const { status } = useValue(model.link);
  const [context, setContext] = useState<ContextReply | Error | null>(null);
  const { active } = props;
  const cellCount = active === null ? null : model.editor.cellCount(active);

  useEffect(() => {
    if (runningTurnId || status !== 'online') {
      return;
    }
    let isCurrent = true;
    // Typing in the notebook is not followed; what a click shows is always fresh.
    const timer = setTimeout(() => {
      model.messages.context().then(
        reply => isCurrent && setContext(reply),
        (error: Error) => isCurrent && setContext(error)
      );
    }, 400);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
    // Besides, whatever changes how much of the conversation is sent.
  }, [
    model,
    active,
    cellCount,
    choices,
    sessionId,
    runningTurnId,
    turnIds,
    withdrawn,
    compactions,
    status
  ]);

  if (!context) {
    return null;
  }
  const isError = context instanceof Error;
  const size = (
    <button
      type="button"
      className="da-link da-context-size"
      title={
        isError
          ? context.message
          : `Show what will be sent with the next message${windowWords(context)}`
      }
      onClick={() => void showWhatIsSent(() => model.messages.context())}
    >
      {isError
        ? 'cannot be sent'
        : `≈\u00a0${countShort(totalTokens(context))} tokens${fullness(context)}`}
    </button>
  );
  const sharing = isError ? null : context.request?.sharing;
  return (
    <span className="da-context-end">
      {sharing && <SharingChoice sharing={sharing} />}
      {size}
    </span>
  );
}

/** How much the model reads, for the tooltip. */
function windowWords({ request }: ContextReply): string {
  return request?.window
    ? ` (the model reads up to ${countShort(request.window)} tokens)`
    : '';
}

/** " · 12 %" of the model's window, where the server knows that. */
function fullness({ request }: ContextReply): string {
  if (!request?.window) {
    return '';
  }
  const share = (100 * request.totalTokens) / request.window;
  return ` · ${share < 1 ? '<\u00a01' : Math.round(share)}\u00a0%`;
}

function nameOf(
  attachment: Attachment,
  number: (path: string, id: string) => number | undefined
): string {
  const { kind, path, cellId, name } = attachment;
  if (kind === 'variable') {
    return name ?? kind;
  }
  const base = path ? PathExt.basename(path) : (name ?? kind);
  if ((kind === 'cell' || kind === 'output') && path && cellId) {
    const at = number(path, cellId);
    const what = kind === 'cell' ? 'Cell' : 'Output';
    return at ? `${what} ${at} of ${base}` : `${what} of ${base}`;
  }
  return base;
}

function kernelWords(status: string): string {
  switch (status) {
    case 'idle':
      return 'kernel ready';
    case 'busy':
      return 'kernel busy';
    case 'dead':
      return 'kernel died';
    case 'unknown':
      return 'no kernel';
    default:
      return `kernel ${status}`;
  }
}
