import React, { useState } from 'react';

import { McpServerInfo } from '../../api/types';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';
import { placeLabel, stateLabel, toolsLabel } from './labels';
import { ServerForm } from './ServerForm';
import { SignIn } from './SignIn';
import { Tools } from './Tools';

/** One server: what it is, what it does now, its tools and its log. */
export function Server(props: { server: McpServerInfo }): JSX.Element {
  const { mcp } = usePanel().model.toolsPanel;
  const { busy } = useValue(mcp.shown);
  const { server } = props;
  const { name, enabled, problem, source, saysItIs, signIn, tools } = server;
  const [isEdited, setEdited] = useState(false);
  return (
    <section
      className="da-mcp-server"
      aria-label={name}
      aria-busy={busy === name}
      data-testid="da-mcp-server"
      data-server={name}
      data-state={server.state}
    >
      <div className="da-mcp-head">
        <label>
          <input
            type="checkbox"
            data-testid="da-mcp-enabled"
            checked={enabled}
            onChange={event =>
              void mcp.change(name, { enabled: event.target.checked })
            }
          />
          <strong>{name}</strong>
        </label>
        <span className="da-dim" role="status" title={saysItIs}>
          {stateLabel(server)}
        </span>
      </div>
      <div className="da-dim da-mcp-place" title={placeLabel(server)}>
        {placeLabel(server)}
      </div>
      {source === 'folder' && (
        <div className="da-dim">{`From ${server.file}`}</div>
      )}
      {problem && signIn !== 'waiting' && (
        <div className="da-notice da-mod-error" data-testid="da-mcp-problem">
          {problem}
        </div>
      )}
      {enabled && <SignIn server={server} />}
      {tools && tools.length > 0 && enabled && (
        <details className="da-more" data-testid="da-mcp-tools">
          <summary>{toolsLabel(tools)}</summary>
          <Tools server={name} tools={tools} />
        </details>
      )}
      {isEdited ? (
        <ServerForm server={server} close={() => setEdited(false)} />
      ) : (
        <Acts server={server} edit={() => setEdited(true)} />
      )}
      <Log name={name} />
    </section>
  );
}

/** What can be done with a server. */
function Acts(props: { server: McpServerInfo; edit: () => void }): JSX.Element {
  const { mcp } = usePanel().model.toolsPanel;
  const { busy, log } = useValue(mcp.shown);
  const { name, enabled, state, source, signIn } = props.server;
  const [isSure, setSure] = useState(false);
  const act = (label: string, testId: string, onClick: () => void) => (
    <button
      type="button"
      className="da-link"
      data-testid={testId}
      aria-label={`${label}: ${name}`}
      disabled={busy === name}
      onClick={onClick}
    >
      {label}
    </button>
  );
  const isUp = state === 'running' || state === 'starting';
  return (
    <div className="da-mcp-acts">
      {enabled &&
        act(isUp ? 'Restart' : 'Start', 'da-mcp-start', () => {
          void mcp.run(name, 'start');
        })}
      {isUp && act('Stop', 'da-mcp-stop', () => void mcp.run(name, 'stop'))}
      {act(log?.name === name ? 'Close log' : 'Log', 'da-mcp-log', () => {
        void mcp.showLog(name, log?.name !== name);
      })}
      {signIn === 'done' &&
        act('Sign out', 'da-mcp-sign-out', () => void mcp.signOut(name))}
      {source === 'user' && act('Edit', 'da-mcp-edit', props.edit)}
      {source === 'user' && (
        <span onBlur={() => setSure(false)}>
          {act(isSure ? 'Remove it' : 'Remove', 'da-mcp-remove', () => {
            if (isSure) {
              void mcp.remove(name);
            } else {
              setSure(true);
            }
          })}
        </span>
      )}
    </div>
  );
}

function Log(props: { name: string }): JSX.Element | null {
  const { mcp } = usePanel().model.toolsPanel;
  const { log } = useValue(mcp.shown);
  if (log?.name !== props.name) {
    return null;
  }
  return (
    <pre
      className="da-mcp-log"
      data-testid="da-mcp-lines"
      // A scrollable region must be reachable by keyboard.
      tabIndex={0}
      aria-label={`Log of ${props.name}`}
    >
      {log.lines.join('\n') || 'Nothing was logged yet.'}
    </pre>
  );
}
