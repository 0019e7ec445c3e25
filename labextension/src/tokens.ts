import { Token } from '@lumino/coreutils';

import { IPageConnection } from './api/connection';

/** The page's one connection to the server, shared by the panel and the bridge. */
export const IAgentConnection = new Token<IPageConnection>(
  'jupyter-datalayer-agent:IAgentConnection',
  "The page's connection to the agent: session events, editor state, the server's requests."
);
