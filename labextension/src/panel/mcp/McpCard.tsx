import { refreshIcon } from '@jupyterlab/ui-components';
import React, { useState } from 'react';

import { McpServersReply } from '../../api/types';
import { useValue } from '../../session/observable';
import { IconButton } from '../../ui/IconButton';
import { Problem } from '../../ui/Problem';
import { usePanel } from '../context';
import { InstructionsDecision } from '../instructions/Instructions';
import { CardFrame } from '../toolsPanel/CardFrame';
import { FolderFile } from './FolderFile';
import { Server } from './Server';
import { ServerForm } from './ServerForm';

/** MCP servers: their state, their tools and what these may do; adding one. */
export function McpCard(): JSX.Element {
  const { mcp } = usePanel().model.toolsPanel;
  const { reply, problem } = useValue(mcp.shown);
  return (
    <CardFrame
      title="MCP Servers"
      testId="da-mcp"
      takesFocus
      actions={
        <IconButton
          icon={refreshIcon}
          label="Refresh"
          onClick={() => void mcp.refresh()}
        />
      }
    >
      {problem && (
        <Problem message={problem} onRetry={() => void mcp.refresh()} />
      )}
      {!problem && !reply && <p>Loading</p>}
      {reply?.locked && <p data-testid="da-mcp-locked">{reply.locked}</p>}
      {reply && !reply.locked && <Servers reply={reply} />}
    </CardFrame>
  );
}

function Servers(props: { reply: McpServersReply }): JSX.Element {
  const { servers, problems, folder, userFile, isSearched } = props.reply;
  const [isAdding, setAdding] = useState(false);
  return (
    <div className="da-mcp">
      {problems.map(each => (
        <div key={each} className="da-notice da-mod-warning" role="status">
          {each}
        </div>
      ))}
      {folder && <FolderFile file={folder} />}
      <InstructionsDecision />
      {servers.length === 0 && (
        <p>
          MCP servers are programs with tools that the agent can use, for
          example to read a calendar or a database. Add only servers that you
          trust: they run as you.
        </p>
      )}
      {servers.map(each => (
        <Server key={each.name} server={each} />
      ))}
      {isSearched && (
        <p className="da-dim">
          These are more than 20 tools: the model searches them when it needs
          one.
        </p>
      )}
      {isAdding ? (
        <section aria-label="Add a server">
          <h4>Add a server</h4>
          <ServerForm
            names={servers.map(({ name }) => name)}
            close={() => setAdding(false)}
          />
        </section>
      ) : (
        <div className="da-buttons">
          <button
            type="button"
            className="da-button"
            data-testid="da-mcp-add"
            title={`Saved in ${userFile}`}
            onClick={() => setAdding(true)}
          >
            Add a server
          </button>
        </div>
      )}
    </div>
  );
}
