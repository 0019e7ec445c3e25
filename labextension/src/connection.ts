import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

import { IPageConnection, PageConnection } from './api/connection';
import { IAgentConnection } from './tokens';

/** Provides the page's connection; whoever needs it first opens it. */
export const connectionPlugin: JupyterFrontEndPlugin<IPageConnection> = {
  id: 'jupyter-datalayer-agent:connection',
  description: "The page's connection to the agent.",
  autoStart: true,
  provides: IAgentConnection,
  activate: (app: JupyterFrontEnd): IPageConnection =>
    new PageConnection({ settings: app.serviceManager.serverSettings })
};
