import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import {
  ICommandPalette,
  ISessionContextDialogs,
  SessionContextDialogs,
  showErrorMessage,
  WidgetTracker
} from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { IDefaultFileBrowser } from '@jupyterlab/filebrowser';
import { ILauncher } from '@jupyterlab/launcher';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { fileIcon } from '@jupyterlab/ui-components';

import type { AgentClient } from '../api/client';
import type { IPageConnection } from '../api/pageConnection';
import { messageOf } from '../api/errors';
import { IAgentClient, IAgentConnection, ILexicalTracker } from '../tokens';
import { LexicalDocument, LexicalFactory } from './factory';

/** Ids of the commands about Lexical documents. */
export const CommandIDs = { create: 'datalayer-agent:new-lexical' } as const;

const FACTORY = 'Lexical Document';
const FILE_TYPE = 'lexical';

/** Opens Lexical documents, and makes new ones. */
export const lexicalPlugin: JupyterFrontEndPlugin<ILexicalTracker> = {
  id: 'jupyter-datalayer-agent:lexical',
  description: 'Shows Lexical documents, runs their code, and makes new ones.',
  autoStart: true,
  provides: ILexicalTracker,
  requires: [
    IAgentClient,
    IAgentConnection,
    IDocumentManager,
    IEditorServices,
    IRenderMimeRegistry
  ],
  optional: [
    ICommandPalette,
    ILauncher,
    IDefaultFileBrowser,
    IEditorLanguageRegistry,
    ISessionContextDialogs,
    ILayoutRestorer
  ],
  activate: (
    app: JupyterFrontEnd,
    client: AgentClient,
    connection: IPageConnection,
    manager: IDocumentManager,
    editors: IEditorServices,
    rendermime: IRenderMimeRegistry,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    browser: IDefaultFileBrowser | null,
    languages: IEditorLanguageRegistry | null,
    dialogs: ISessionContextDialogs | null,
    restorer: ILayoutRestorer | null
  ) => {
    const { commands, docRegistry, serviceManager } = app;
    const tracker = new WidgetTracker<LexicalDocument>({
      namespace: 'datalayer-agent-lexical'
    });
    docRegistry.addFileType({
      name: FILE_TYPE,
      displayName: 'Lexical Document',
      extensions: ['.dlex', '.lexical'],
      mimeTypes: ['application/vnd.lexical+json'],
      contentType: 'file',
      fileFormat: 'text',
      icon: fileIcon
    });
    const factory = new LexicalFactory(
      {
        name: FACTORY,
        modelName: 'text',
        fileTypes: [FILE_TYPE],
        defaultFor: [FILE_TYPE]
      },
      {
        services: serviceManager,
        client,
        clientId: connection.clientId,
        rendermime,
        editors,
        languages,
        dialogs: dialogs ?? new SessionContextDialogs(),
        openPath: path => void manager.openOrReveal(path),
        openSource: path => void manager.openOrReveal(path, 'Editor')
      }
    );
    factory.widgetCreated.connect((_, widget) => {
      widget.title.icon = fileIcon;
      widget.context.pathChanged.connect(() => void tracker.save(widget));
      void tracker.add(widget);
    });
    docRegistry.addWidgetFactory(factory);
    void restorer?.restore(tracker, {
      command: 'docmanager:open',
      args: ({ context }) => ({ path: context.path, factory: FACTORY }),
      name: ({ context }) => context.path
    });
    commands.addCommand(CommandIDs.create, {
      label: args =>
        args.isPalette ? 'New Lexical Document' : 'Lexical Document',
      caption: 'Make a document of text, tables and code that runs',
      icon: args => (args.isPalette ? undefined : fileIcon),
      describedBy: {
        args: {
          type: 'object',
          properties: {
            cwd: { type: 'string', description: 'The folder of the document' }
          }
        }
      },
      execute: async args => {
        const cwd =
          typeof args.cwd === 'string' ? args.cwd : browser?.model.path;
        try {
          return await create(client, manager, cwd ?? '');
        } catch (error) {
          await showErrorMessage('Not Created', messageOf(error));
          return undefined;
        }
      }
    });
    palette?.addItem({
      command: CommandIDs.create,
      category: 'Agent',
      args: { isPalette: true }
    });
    launcher?.add({ command: CommandIDs.create, category: 'Other', rank: 5 });
    return tracker;
  }
};

async function create(
  client: Pick<AgentClient, 'callTool'>,
  manager: IDocumentManager,
  cwd: string
): Promise<unknown> {
  const folder = manager.services.contents.localPath(cwd);
  const name = `${folder ? `${folder}/` : ''}Untitled.dlex`;
  const { ok, output, error } = await client.callTool('createLexical', {
    arguments: { name }
  });
  if (!ok) {
    throw new Error(error?.message);
  }
  return manager.openOrReveal((output as { path: string }).path);
}
