import { Token } from '@lumino/coreutils';

import type { AgentClient } from './api/client';
import type { IPageConnection } from './api/connection';
import type { IChangesSource } from './changes/source';
import type { Documents } from './notebook/documents';

/** The server's HTTP routes. */
export const IAgentClient = new Token<AgentClient>(
  'jupyter-datalayer-agent:IAgentClient',
  "The agent's HTTP routes."
);

/** The page's one connection to the server, shared by the panel and the bridge. */
export const IAgentConnection = new Token<IPageConnection>(
  'jupyter-datalayer-agent:IAgentConnection',
  "The page's connection to the agent: session events, editor state, the server's requests."
);

/** What the agent changed, as the panel knows it, and the one place to decide on it. */
export const IAgentChanges = new Token<IChangesSource>(
  'jupyter-datalayer-agent:IAgentChanges',
  'What turns of the agent changed and nobody has decided on, and how to decide.'
);

/** The documents that are open in the page. */
export const IDocuments = new Token<Documents>(
  'jupyter-datalayer-agent:IDocuments',
  'The documents that are open in the page, by their paths under the server root.'
);
