import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { Cell } from '@jupyterlab/cells';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { DocumentWidget, IDocumentWidget } from '@jupyterlab/docregistry';
import { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { IStateDB } from '@jupyterlab/statedb';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/connection';
import { ProposalDecision } from '../api/types';
import { Documents } from '../bridge/documents';
import { agentIcon } from '../panel/icons';
import { pathsUnderRoot } from '../panel/links';
import { WorkspaceMemory } from '../panel/memory';
import { IProposal } from '../proposals';
import { IAgentConnection } from '../tokens';
import type { InlineDesk } from './desk';
import { heedInBoxes, heedInEditors } from './keys';
import type { InlineModel } from './model';
import { IInlineChats, openChatsKey } from './token';
import {
  decisionOf,
  IProposeArguments,
  IShownProposal,
  PROPOSE,
  PROPOSE_SCHEMA
} from './propose';

/** Ids of the inline chat's commands. */
export const CommandIDs = {
  open: 'datalayer-agent:inline-chat',
  accept: 'datalayer-agent:inline-accept',
  acceptAndRun: 'datalayer-agent:inline-accept-and-run',
  reject: 'datalayer-agent:inline-reject',
  next: 'datalayer-agent:inline-next-change',
  previous: 'datalayer-agent:inline-previous-change',
  acceptOne: 'datalayer-agent:inline-accept-change',
  rejectOne: 'datalayer-agent:inline-reject-change'
} as const;

/** The chat in a cell or above a file's editor. */
export const inlinePlugin: JupyterFrontEndPlugin<IInlineChats> = {
  id: 'jupyter-datalayer-agent:inline',
  description: 'The inline chat of the agent.',
  autoStart: true,
  provides: IInlineChats,
  requires: [
    IAgentConnection,
    IDocumentManager,
    INotebookTracker,
    IRenderMimeRegistry
  ],
  optional: [ICommandPalette, IEditorTracker, IStateDB],
  activate: (
    app: JupyterFrontEnd,
    connection: IPageConnection,
    documents: IDocumentManager,
    tracker: INotebookTracker,
    rendermime: IRenderMimeRegistry,
    palette: ICommandPalette | null,
    editors: IEditorTracker | null,
    state: IStateDB | null
  ): IInlineChats => {
    const inline = new Inline(
      app,
      connection,
      documents,
      tracker,
      editors,
      rendermime,
      state
    );
    addCommands(app, inline);
    const restore = (panel: NotebookPanel) => void inline.restore(panel);
    tracker.forEach(restore);
    tracker.widgetAdded.connect((_, panel) => restore(panel));
    const restoreFile = (file: IDocumentWidget<FileEditor>) =>
      void inline.restoreFile(file as DocumentWidget<FileEditor>);
    editors?.forEach(restoreFile);
    editors?.widgetAdded.connect((_, file) => restoreFile(file));
    const ids = new Set<string>(Object.values(CommandIDs));
    heedInEditors(app.commands, ids);
    heedInBoxes(app.commands, '.da-inline', ids);
    palette?.addItem({ command: CommandIDs.open, category: 'Agent' });
    return inline;
  }
};

/** What the commands do. What is drawn is loaded with the first inline chat. */
class Inline implements IInlineChats {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _connection: IPageConnection,
    private readonly _manager: IDocumentManager,
    private readonly _tracker: INotebookTracker,
    private readonly _editors: IEditorTracker | null,
    private readonly _rendermime: IRenderMimeRegistry,
    private readonly _state: IStateDB | null
  ) {
    this._documents = new Documents(_app.shell, _tracker, _manager);
  }

  /** The chat that the keys mean: the one of the active cell or file, or the one that waits. */
  get current(): InlineModel | null {
    return this._desk?.of(this._owner) ?? null;
  }

  get isEnabled(): boolean {
    return this._owner !== null;
  }

  async open(): Promise<void> {
    const { _documents: documents } = this;
    const panel = this._notebook;
    const cell = panel?.content.activeCell;
    const file = this._file;
    const desk = await this._load();
    if (panel && cell) {
      await this.onCell(panel, cell);
    } else if (file) {
      const path = documents.pathOf(file.context);
      if (path !== null) {
        const { FileTarget } = await import('./fileTarget');
        desk.open(file, () => new FileTarget(file, path));
      }
    }
  }

  async onCell(
    panel: NotebookPanel,
    cell: Cell,
    where: 'above' | 'below' = 'above'
  ): Promise<InlineModel | null> {
    const path = this._documents.pathOf(panel.context);
    const desk = await this._load();
    const { CellTarget } = await import('./cellTarget');
    if (path === null || cell.isDisposed) {
      return null;
    }
    const owner = where === 'above' ? cell : (cell.inputArea ?? cell);
    return desk.open(owner, () => new CellTarget(panel, cell, path, where));
  }

  /** Open the chats again that were not closed when the notebook, or the page, was. */
  async restore(panel: NotebookPanel): Promise<void> {
    const path = await this._leftOpen(panel);
    if (path !== null) {
      const { restoreChats } = await import('./restore');
      await restoreChats(panel, path, await this._load());
    }
  }

  /** The same for a text file. */
  async restoreFile(file: DocumentWidget<FileEditor>): Promise<void> {
    const path = await this._leftOpen(file);
    if (path !== null) {
      const { restoreFileChat } = await import('./restore');
      await restoreFileChat(file, path, await this._load());
    }
  }

  /** The path of a document, once it is there, if chats are remembered for it. */
  private async _leftOpen({
    context,
    revealed
  }: DocumentWidget): Promise<string | null> {
    await Promise.all([context.ready, revealed]);
    let path = this._documents.pathOf(context);
    if (path === null) {
      return null;
    }
    const known = new WorkspaceMemory(this._state, openChatsKey(path)).load();
    context.pathChanged.connect(() => {
      const now = this._documents.pathOf(context);
      if (path !== null && now !== null && now !== path) {
        // Without a desk no chat was open in this page.
        this._desk?.moved(path, now);
      }
      path = now;
    });
    return (await known) ? path : null;
  }

  /** Show a proposal that was made elsewhere as a diff where it belongs, and go there. */
  async propose(
    path: string,
    proposal: IProposal,
    from: string
  ): Promise<IShownProposal> {
    const { target } = proposal;
    const desk = await this._load();
    if (target.kind === 'file') {
      const file = await this._openFile(path);
      const { FileTarget } = await import('./fileTarget');
      const model = desk.open(file, () => new FileTarget(file, path));
      return offer(model, proposal, from);
    }
    const documents = this._documents;
    await documents.reveal(path, target.cellId, true);
    const panel = await documents.notebook(path);
    const cell = panel.content.activeCell!;
    await cell.ready;
    const { CellTarget } = await import('./cellTarget');
    const model = desk.open(cell, () => new CellTarget(panel, cell, path));
    return offer(model, proposal, from);
  }

  private async _openFile(path: string): Promise<DocumentWidget<FileEditor>> {
    await this._documents.open(path);
    const file = this._editors?.find(
      ({ context }) => this._documents.pathOf(context) === path
    );
    if (!file) {
      throw new Error(`${path} does not open in a text editor.`);
    }
    this._app.shell.activateById(file.id);
    await file.revealed;
    return file as DocumentWidget<FileEditor>;
  }

  private get _owner(): object | null {
    return this._notebook?.content.activeCell ?? this._file;
  }

  private get _notebook() {
    const { currentWidget } = this._tracker;
    return currentWidget && currentWidget === this._app.shell.currentWidget
      ? currentWidget
      : null;
  }

  private get _file(): DocumentWidget<FileEditor> | null {
    const current = this._editors?.currentWidget ?? null;
    return current && current === this._app.shell.currentWidget
      ? (current as DocumentWidget<FileEditor>)
      : null;
  }

  private async _load(): Promise<InlineDesk> {
    const [{ InlineDesk }, { InlineSessions }] = await Promise.all([
      import('./desk'),
      import('./sessions')
    ]);
    this._desk ??= new InlineDesk({
      connection: this._connection,
      sessions: new InlineSessions(
        new AgentClient(this._app.serviceManager.serverSettings),
        key => new WorkspaceMemory(this._state, key)
      ),
      rendermime: this._rendermime,
      openPath: (path, from) => {
        const [found] = pathsUnderRoot(path, from);
        if (found) {
          this._manager.openOrReveal(found);
        }
      }
    });
    return this._desk;
  }

  private readonly _documents: Documents;
  private _desk: InlineDesk | null = null;
}

/** Show a proposal in an inline chat; throws where it could not be accepted. */
async function offer(
  model: InlineModel,
  proposal: IProposal,
  from: string
): Promise<IShownProposal> {
  const { obstacle } = model.target;
  if (obstacle) {
    model.close();
    throw new Error(obstacle);
  }
  const decided = new Promise<ProposalDecision>(resolve =>
    model.decided.connect((_, of) => {
      if (of.proposal === proposal) {
        resolve(decisionOf(proposal.target, of.outcome));
      }
    })
  );
  await model.add(proposal, from);
  return { decided };
}

function addCommands(app: JupyterFrontEnd, inline: Inline): void {
  const { commands } = app;
  const noArguments = { args: { type: 'object', properties: {} } } as const;
  commands.addCommand(CommandIDs.open, {
    label: 'Ask the Agent Here',
    caption: 'Ask about this cell or file, or say what to change in it',
    icon: agentIcon,
    describedBy: noArguments,
    isEnabled: () => inline.isEnabled,
    execute: () => inline.open()
  });
  commands.addCommand(PROPOSE, {
    label: 'Show a Proposal as a Diff',
    describedBy: PROPOSE_SCHEMA,
    execute: args => {
      const { path, proposal, from } = args as unknown as IProposeArguments;
      return inline.propose(path, proposal, from);
    }
  });
  const add = (id: string, label: string, act: (model: InlineModel) => void) =>
    commands.addCommand(id, {
      label,
      describedBy: noArguments,
      isEnabled: () => inline.current !== null,
      execute: () => {
        const { current } = inline;
        if (current) {
          act(current);
        }
      }
    });
  add(CommandIDs.accept, "Accept the Agent's Proposal", model =>
    model.acceptAll()
  );
  add(CommandIDs.acceptAndRun, "Accept the Agent's Proposal and Run", model =>
    model.acceptAll(true)
  );
  add(CommandIDs.reject, "Reject the Agent's Proposal", model => model.close());
  add(CommandIDs.next, 'Next Proposed Change', model => model.move(1));
  add(CommandIDs.previous, 'Previous Proposed Change', model => model.move(-1));
  add(CommandIDs.acceptOne, 'Accept This Change', model => model.decide(true));
  add(CommandIDs.rejectOne, 'Reject This Change', model => model.decide(false));
}
