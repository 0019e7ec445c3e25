import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/connection';
import { Documents } from '../bridge/documents';
import { IAgentConnection } from '../tokens';
import type { SuggestDesk } from './desk';

const PLUGIN_ID = 'jupyter-datalayer-agent:suggest';

/** A suggested next cell after a run, for those who switched it on. */
export const suggestPlugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'A suggested next cell after a run.',
  autoStart: true,
  requires: [
    IAgentConnection,
    IDocumentManager,
    INotebookTracker,
    ISettingRegistry
  ],
  activate: async (
    app: JupyterFrontEnd,
    connection: IPageConnection,
    manager: IDocumentManager,
    tracker: INotebookTracker,
    registry: ISettingRegistry
  ): Promise<void> => {
    const settings = await registry.load(PLUGIN_ID);
    const isEnabled = () => settings.get('enabled').composite === true;
    let desk: SuggestDesk | null = null;
    const look = async () => {
      if (!isEnabled()) {
        desk?.cancel();
        return;
      }
      const module = await import('./desk');
      desk ??= new module.SuggestDesk({
        tracker,
        connection,
        documents: new Documents(app.shell, tracker, manager),
        client: new AgentClient(app.serviceManager.serverSettings),
        isEnabled,
        model: () => {
          const { composite } = settings.get('model');
          return typeof composite === 'string' && composite.trim()
            ? composite.trim()
            : undefined;
        }
      });
    };
    settings.changed.connect(() => void look());
    await look();
  }
};
