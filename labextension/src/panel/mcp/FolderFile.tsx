import React from 'react';

import { McpFolderFile } from '../../api/types';
import { usePanel } from '../context';
import { FolderFileNotice } from '../toolsPanel/FolderFileNotice';
import { placeLabel } from './labels';

/** The `mcp.json` of the server root, whose programs are started only once the user allows it. */
export function FolderFile(props: { file: McpFolderFile }): JSX.Element {
  const { mcp } = usePanel().model.toolsPanel;
  const { file } = props;
  const { path, servers, allowed, hasChanged } = file;
  if (allowed) {
    return (
      <p className="da-dim" data-testid="da-mcp-folder">
        {`The servers of ${path} are allowed. `}
        <button
          type="button"
          className="da-link"
          data-testid="da-mcp-forbid"
          onClick={() => void mcp.decideOnFolder(file, false)}
        >
          Do not allow
        </button>
      </p>
    );
  }
  return (
    <FolderFileNotice
      label="Servers of this folder"
      testId="da-mcp-folder"
      question={
        hasChanged
          ? `${path} has changed since you allowed it. Its servers are not used until you allow it again.`
          : `${path} defines MCP servers. Allow it only if you trust who wrote it: the agent starts these programs as you.`
      }
      allow={{
        label: 'Allow these servers',
        testId: 'da-mcp-allow',
        run: () => void mcp.decideOnFolder(file, true)
      }}
    >
      <ul className="da-mcp-commands">
        {servers.map(each => (
          <li key={each.name}>
            {each.name} <code>{placeLabel(each)}</code>
            {each.reads && each.reads.length > 0 && (
              <div data-testid="da-mcp-reads">
                {`is given ${each.reads.join(', ')} of your environment`}
              </div>
            )}
            {each.sets && each.sets.length > 0 && (
              <div>{`with ${each.sets.join(', ')} set`}</div>
            )}
          </li>
        ))}
      </ul>
    </FolderFileNotice>
  );
}
