import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/pageConnection';
import { Documents } from '../notebook/documents';
import { IAgentClient, IAgentConnection, IDocuments } from '../tokens';
import type { SuggestController } from './controller';

const PLUGIN_ID = 'jupyter-datalayer-agent:suggest';

/** A suggested next cell after a run, for those who switched it on. */
export const suggestPlugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'A suggested next cell after a run.',
  autoStart: true,
  requires: [
    IAgentClient,
    IAgentConnection,
    IDocuments,
    INotebookTracker,
    ISettingRegistry
  ],
  activate: async (
    _: JupyterFrontEnd,
    client: AgentClient,
    connection: IPageConnection,
    documents: Documents,
    tracker: INotebookTracker,
    registry: ISettingRegistry
  ): Promise<void> => {
    const settings = await registry.load(PLUGIN_ID);
    const isEnabled = () => settings.get('enabled').composite === true;
    let controller: SuggestController | null = null;
    const refresh = async () => {
      if (!isEnabled()) {
        controller?.cancel();
        return;
      }
      const module = await import('./controller');
      controller ??= new module.SuggestController({
        tracker,
        connection,
        documents,
        client,
        isEnabled,
        model: () => {
          const { composite } = settings.get('model');
          return typeof composite === 'string' && composite.trim()
            ? composite.trim()
            : undefined;
        }
      });
    };
    settings.changed.connect(() => void refresh());
    await refresh();
  }
};
