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
import React from 'react';

import { Attachment, ContextReply, Mode } from '../../../api/types';
import { toolIcon, variableIcon } from '../../../ui/icons';
import { isLexical } from '../../../notebook/documentKind';
import { IEditor } from '../../../notebook/editor';
import { useValue } from '../../../session/observable';
import { countShort } from '../../../ui/format';
import { IconButton } from '../../../ui/IconButton';
import { SharingChoice } from './SharingChoice';
import { showWhatIsSent, totalTokens } from './WhatIsSent';
import { usePanel } from '../../context';
import { useContextReply } from './contextReply';
import { useEditorChanges } from '../editorChanges';
import { unmetRequirements, useTools } from '../toolState';

/** What the next message takes along: attachments, the notebook's state, the context's size. */
export function ContextStrip(props: {
  onOpen: (attachment: Attachment) => void;
}): JSX.Element {
  const { model } = usePanel();
  const { editor } = model;
  const { attachments, mode, tools } = useValue(model.composerState);
  const listed = useTools(tools.length > 0);
  const lacks = new Map(
    unmetRequirements(tools, listed, mode).map(({ name, reason }) => [
      name,
      reason
    ])
  );
  useEditorChanges();
  const active = editor.activeNotebook;
  const offered = offeredAttachment(editor);
  const kernel = active ? editor.kernel(active) : null;
  const context = useContextReply(active);
  const sent = context instanceof Error ? null : context?.notebook?.uri;
  return (
    <div className="da-context" role="group" aria-label="Context">
      <div
        className="da-context-chips"
        onWheel={event => {
          event.currentTarget.scrollLeft += event.deltaY;
        }}
      >
        {attachments.map(attachment => (
          <Chip
            key={`${attachment.kind}:${attachment.path ?? attachment.name}:${attachment.cellId}`}
            attachment={attachment}
            state={documentState(attachment, editor, sent ?? null, mode)}
            onOpen={() => props.onOpen(attachment)}
            onRemove={() => model.composerState.detach(attachment)}
          />
        ))}
        {tools.map(name => (
          <ToolChip key={name} name={name} unmet={lacks.get(name)} />
        ))}
        {offered?.path && !model.composerState.has(offered) && (
          <button
            type="button"
            className="da-chip da-mod-offer"
            title={`Attach ${offered.path} so the agent can see it`}
            onClick={() => model.composerState.attach(offered)}
          >
            <addIcon.react tag="span" className="da-chip-icon" />
            <span className="da-chip-name">
              {PathExt.basename(offered.path)}
            </span>
          </button>
        )}
      </div>
      <div className="da-context-facts">
        {kernel && (
          <span className="da-dim da-kernel" title={`Kernel: ${kernel.name}`}>
            {kernelLabel(kernel.status)}
          </span>
        )}
        <ContextSize context={context} />
      </div>
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
  state: IDocumentState | null;
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
        {state && <span className="da-chip-state">{state.label}</span>}
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
function ToolChip(props: { name: string; unmet?: string }): JSX.Element {
  const { name, unmet } = props;
  const { model } = usePanel();
  const remove = () => model.composerState.toggleTool(name);
  return (
    <span
      className={`da-chip${unmet ? ' da-mod-unavailable' : ''}`}
      data-testid="da-attachment"
      data-kind="tool"
    >
      <button
        type="button"
        className="da-chip-main"
        title={`#${name}: requested for the next message${unmet ? `, but ${unmet}` : ''}`}
        onKeyDown={event =>
          (event.key === 'Delete' || event.key === 'Backspace') && remove()
        }
      >
        <toolIcon.react tag="span" className="da-chip-icon" />
        <span className="da-chip-name">{`#${name}`}</span>
        {unmet && <span className="da-chip-state">{unmet}</span>}
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

/** What would attach the active notebook or Lexical document. */
function offeredAttachment(editor: IEditor): Attachment | null {
  const path = editor.activeDocument;
  if (path === null) {
    return null;
  }
  return { kind: path === editor.activeNotebook ? 'notebook' : 'file', path };
}

/** Whether the agent can work on an attached notebook or Lexical document, and if not, why. */
interface IDocumentState {
  isOn: boolean;
  mode: 'off' | 'read-only' | 'full';
  label: string;
  title: string;
}

function documentState(
  { kind, path }: Attachment,
  editor: IEditor,
  sent: string | null,
  mode: Mode
): IDocumentState | null {
  const isNotebook = kind === 'notebook';
  if (!isNotebook && !(kind === 'file' && path && isLexical(path))) {
    return null;
  }
  // One that the agent made in this conversation is sent also where its tab is not the active one.
  if (path !== editor.activeDocument && path !== sent) {
    return {
      isOn: false,
      mode: 'off',
      label: 'open it',
      title: 'open it so the agent can see it'
    };
  }
  const isOn = isNotebook ? 'notebook mode is on: ' : '';
  return mode === 'agent'
    ? {
        isOn: true,
        mode: 'full',
        label: 'can edit',
        title: `${isOn}the agent can read, change and run it`
      }
    : {
        isOn: true,
        mode: 'read-only',
        label: 'can read',
        title: `${isOn}the agent can read it; Agent mode can change and run it`
      };
}

/** How many tokens the next message takes along; a click shows what exactly will be sent. */
function ContextSize(props: {
  context: ContextReply | Error | null;
}): JSX.Element | null {
  const { model } = usePanel();
  const { context } = props;
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
          : `Show what will be sent with the next message${formatWindow(context)}`
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
function formatWindow({ request }: ContextReply): string {
  return request?.window
    ? ` (context window: ${countShort(request.window)} tokens)`
    : '';
}

/** " · 12%" of the model's window, where the server knows that. */
function fullness({ request }: ContextReply): string {
  if (!request?.window) {
    return '';
  }
  const share = (100 * request.totalTokens) / request.window;
  return ` · ${share < 1 ? '<1' : Math.round(share)}%`;
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

function kernelLabel(status: string): string {
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
