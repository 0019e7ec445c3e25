import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

import { IAgentClient, IAgentConnection } from '../tokens';
import { AgentClient } from './client';
import { PageConnection } from './connection';
import { IPageConnection } from './pageConnection';

/** Provides the server's HTTP routes. */
export const clientPlugin: JupyterFrontEndPlugin<AgentClient> = {
  id: 'jupyter-datalayer-agent:client',
  description: "The agent's HTTP routes.",
  autoStart: true,
  provides: IAgentClient,
  activate: ({ serviceManager }: JupyterFrontEnd) =>
    new AgentClient(serviceManager.serverSettings)
};

/** Provides the page's connection; whoever needs it first opens it. */
export const connectionPlugin: JupyterFrontEndPlugin<IPageConnection> = {
  id: 'jupyter-datalayer-agent:connection',
  description: "The page's connection to the agent.",
  autoStart: true,
  provides: IAgentConnection,
  activate: ({ serviceManager }: JupyterFrontEnd) =>
    new PageConnection({ settings: serviceManager.serverSettings })
};
