import { Token } from '@lumino/coreutils';

import { IPageConnection } from './api/connection';
import type { IChangesSource } from './changes/source';

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
