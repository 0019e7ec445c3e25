import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';
import React from 'react';

import { messageOf } from '../../../api/errors';
import { ContextPart, ContextReply, Mode } from '../../../api/types';
import { countShort } from '../../../ui/format';

const MODES: Record<Mode, string> = {
  ask: 'Ask',
  edit: 'Edit',
  agent: 'Agent'
};

/** Said of what is part of the context and did not change since it was sent. */
const KNOWN = 'unchanged since it was sent';

/** How much the next message sends: of all parts, where the server reported them. */
export function totalTokens(reply: ContextReply): number {
  return reply.request?.totalTokens ?? reply.tokens;
}

/** Show what the next message sends, as the server would build it now. */
export async function showWhatIsSent(
  load: () => Promise<ContextReply>
): Promise<void> {
  let title = 'Cannot show what will be sent';
  let body: Widget;
  try {
    const reply = await load();
    title = `What will be sent (about ${countShort(totalTokens(reply))} tokens)`;
    body = ReactWidget.create(<WhatIsSent reply={reply} />);
  } catch (error) {
    const node = document.createElement('p');
    node.textContent = messageOf(error);
    body = new Widget({ node });
  }
  await showDialog({
    title,
    body,
    buttons: [Dialog.okButton({ label: 'Close' })]
  });
}

/** The parts of the next request in their order, each with its size. */
export function WhatIsSent(props: { reply: ContextReply }): JSX.Element {
  const { reply } = props;
  const { request } = reply;
  const context = <Context reply={reply} />;
  if (!request) {
    return <div className="da-sent">{context}</div>;
  }
  const { historyTurns: turns, historyItems: items, tools } = request;
  return (
    <div className="da-sent" data-testid="da-sent">
      <p>
        {request.model
          ? `To ${request.model}, in ${MODES[request.mode]} mode, in this order:`
          : `In ${MODES[request.mode]} mode, in this order, once a model is connected:`}
      </p>
      <Part
        title={`Instructions for ${MODES[request.mode]} mode`}
        tokens={request.instructionsTokens}
        text={request.instructions}
      />
      <Part
        title={`Descriptions of ${count(tools.length, 'tool')}`}
        tokens={request.toolsTokens}
        text={tools.join('\n')}
      />
      <p className="da-sent-line">
        {turns
          ? `This session: ${count(turns, 'turn')}, ${count(items, 'item')} (messages, answers, tool calls and their results)`
          : 'This session: nothing yet'}
        <Size tokens={request.historyTokens} />
      </p>
      {context}
      <p className="da-sent-line">
        Your message and the files it mentions with @
      </p>
      <p className="da-dim">
        Tool results are added as the agent works. Sizes are estimates;
        providers count tokens differently.
      </p>
    </div>
  );
}

/** The context, part by part: what is active, and what is attached. */
function Context(props: { reply: ContextReply }): JSX.Element {
  const { parts, tokens, text, reason } = props.reply;
  const title = 'Current context';
  if (parts.length < 2) {
    const shown = text || parts[0]?.text || reason || '';
    return (
      <Part isOpen title={title} tokens={tokens} text={shown} zero={KNOWN} />
    );
  }
  return (
    <details open data-testid="da-sent-context">
      <summary>
        {title}
        <Size tokens={tokens} zero={KNOWN} />
      </summary>
      <div className="da-sent-parts">
        {parts.map((part, index) => (
          <Part
            key={index}
            isOpen={index === 0}
            title={titleOf(part)}
            tokens={part.tokens}
            text={part.text}
            zero={KNOWN}
          />
        ))}
      </div>
    </details>
  );
}

/** What a part of the context is, for a user. */
function titleOf({ kind, path, names }: ContextPart): string {
  const list = (names ?? []).join(', ');
  const many = names?.length ?? 0;
  switch (kind) {
    case 'notebook':
      return `Notebook ${path}`;
    case 'file':
      return `File ${path}`;
    case 'dataset':
      return `Data set ${list}`;
    case 'cells':
      return `${count(many, 'attached cell')} of ${path}`;
    case 'outputs':
      return `${count(many, 'attached output')} of ${path}`;
    case 'variables':
      return `${many === 1 ? 'Variable' : 'Variables'} ${list}`;
    case 'references':
      return `Requested tools: ${list}`;
    case 'state':
      return 'Notebook mode state';
  }
}

function Part(props: {
  title: string;
  tokens: number;
  text: string;
  zero?: string;
  isOpen?: boolean;
}): JSX.Element {
  const { title, tokens, text, zero, isOpen } = props;
  return (
    <details open={isOpen}>
      <summary>
        {title}
        <Size tokens={tokens} zero={zero} />
      </summary>
      <pre className="da-context-text" tabIndex={0}>
        {text}
      </pre>
    </details>
  );
}

/** How much is sent of something; `zero` says why nothing is. */
function Size(props: { tokens: number; zero?: string }): JSX.Element {
  const { tokens, zero } = props;
  const label = tokens || !zero ? `${countShort(tokens)} tokens` : zero;
  return <span className="da-dim"> · {label}</span>;
}

function count(many: number, what: string): string {
  return `${many || 'no'} ${what}${many === 1 ? '' : 's'}`;
}
