import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { Cell } from '@jupyterlab/cells';
import { IDocumentManager } from '@jupyterlab/docmanager';
import {
  DocumentRegistry,
  DocumentWidget,
  IDocumentWidget
} from '@jupyterlab/docregistry';
import { FileEditor, IEditorTracker } from '@jupyterlab/fileeditor';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { IStateDB } from '@jupyterlab/statedb';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/pageConnection';
import { ProposalDecision } from '../api/types';
import { Documents } from '../notebook/documents';
import { forEachNotebook } from '../notebook/forEachNotebook';
import { agentIcon } from '../ui/icons';
import { pathsUnderRoot } from '../ui/links';
import { WorkspaceMemory } from '../ui/memory';
import { IProposal } from '../proposals';
import { IAgentClient, IAgentConnection, IDocuments } from '../tokens';
import type { IInlinePlace, InlineController } from './controller';
import { keysInBoxes, keysInEditors } from './keys';
import type { InlineModel } from './model';
import { IN_FILE, openChatsKey } from './openChats';
import { IInlineChats } from './token';
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
  close: 'datalayer-agent:inline-close',
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
    IAgentClient,
    IAgentConnection,
    IDocumentManager,
    IDocuments,
    INotebookTracker,
    IRenderMimeRegistry
  ],
  optional: [ICommandPalette, IEditorTracker, IStateDB],
  activate: (
    app: JupyterFrontEnd,
    client: AgentClient,
    connection: IPageConnection,
    manager: IDocumentManager,
    documents: Documents,
    tracker: INotebookTracker,
    rendermime: IRenderMimeRegistry,
    palette: ICommandPalette | null,
    editors: IEditorTracker | null,
    state: IStateDB | null
  ): IInlineChats => {
    const ids = new Set<string>(Object.values(CommandIDs));
    const inline = new Inline(
      app,
      client,
      connection,
      manager,
      documents,
      tracker,
      editors,
      rendermime,
      state,
      ids
    );
    addCommands(app, inline);
    // Buttons ask whether it can be used when they are drawn, which after a reload is before there
    // is an active document.
    const onActive = () => app.commands.notifyCommandChanged(CommandIDs.open);
    app.shell.currentChanged?.connect(onActive);
    tracker.activeCellChanged.connect(onActive);
    const keys = keysInEditors(app.commands, ids);
    forEachNotebook(tracker, panel => {
      keys.listenIn(panel.node);
      void inline.restore(panel);
    });
    const restoreFile = (file: IDocumentWidget<FileEditor>) => {
      keys.listenIn(file.node);
      void inline.restoreFile(file as DocumentWidget<FileEditor>);
    };
    editors?.forEach(restoreFile);
    editors?.widgetAdded.connect((_, file) => restoreFile(file));
    palette?.addItem({ command: CommandIDs.open, category: 'Agent' });
    return inline;
  }
};

/** What the commands do. What is drawn is loaded with the first inline chat. */
class Inline implements IInlineChats {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _client: AgentClient,
    private readonly _connection: IPageConnection,
    private readonly _manager: IDocumentManager,
    private readonly _documents: Documents,
    private readonly _tracker: INotebookTracker,
    private readonly _editors: IEditorTracker | null,
    private readonly _rendermime: IRenderMimeRegistry,
    private readonly _state: IStateDB | null,
    /** The ids of the inline chats' own commands. */
    private readonly _ids: ReadonlySet<string>
  ) {}

  /** The chat that the keys mean: the one of the active cell or file, or the one that waits. */
  get current(): InlineModel | null {
    return this._controller?.of(this._place) ?? null;
  }

  get isEnabled(): boolean {
    return this._place !== null;
  }

  async open(): Promise<void> {
    const { _documents: documents } = this;
    const panel = this._notebook;
    const cell = panel?.content.activeCell;
    const file = this._file;
    const controller = await this._load();
    if (panel && cell) {
      await this.onCell(panel, cell);
    } else if (file) {
      const path = documents.pathOf(file.context);
      if (path !== null) {
        const { FileTarget } = await import('./fileTarget');
        const place = { view: file, ...IN_FILE };
        const aside = await controller.leftAside(path, place);
        controller.open(place, () => new FileTarget(file, path), aside);
      }
    }
  }

  async onCell(
    panel: NotebookPanel,
    cell: Cell,
    where: 'above' | 'below' = 'above'
  ): Promise<InlineModel | null> {
    const path = this._documents.pathOf(panel.context);
    const controller = await this._load();
    const { CellTarget } = await import('./cellTarget');
    if (path === null || cell.isDisposed) {
      return null;
    }
    const place = { view: panel, cellId: cell.model.id, where };
    const aside = await controller.leftAside(path, place);
    return cell.isDisposed
      ? null
      : controller.open(
          place,
          () => new CellTarget(panel, cell, path, where),
          aside
        );
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
    const path = this._documents.pathOf(context);
    if (path === null) {
      return null;
    }
    const known = new WorkspaceMemory(this._state, openChatsKey(path)).load();
    this._followPath(context, path);
    return (await known) ? path : null;
  }

  /** Have the chats of a document go with it where it is renamed; once for all of its views. */
  private _followPath(
    context: DocumentRegistry.Context,
    path: string | null
  ): void {
    if (this._followed.has(context)) {
      return;
    }
    this._followed.add(context);
    context.pathChanged.connect(() => {
      const now = this._documents.pathOf(context);
      if (path !== null && now !== null && now !== path) {
        // Without a controller no chat was open in this page.
        this._controller?.moved(path, now);
      }
      path = now;
    });
  }

  /** Show a proposal that was made elsewhere as a diff where it belongs, and go there. */
  async propose(
    path: string,
    proposal: IProposal,
    from: string
  ): Promise<IShownProposal> {
    const { target } = proposal;
    const controller = await this._load();
    if (target.kind === 'file') {
      const file = await this._openFile(path);
      const { FileTarget } = await import('./fileTarget');
      const place = { view: file, ...IN_FILE };
      const model = controller.open(place, () => new FileTarget(file, path));
      return offer(model, proposal, from);
    }
    const documents = this._documents;
    await documents.reveal(path, target.cellId, true);
    const panel = await documents.notebook(path);
    const cell = panel.content.activeCell!;
    await cell.ready;
    const { CellTarget } = await import('./cellTarget');
    const { id } = cell.model;
    const model = controller.open(
      { view: panel, cellId: id, where: 'above' },
      () => new CellTarget(panel, cell, path)
    );
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

  private get _place(): IInlinePlace | null {
    const view = this._notebook ?? this._file;
    const cell = this._notebook?.content.activeCell;
    if (!view || (view === this._notebook && !cell)) {
      return null;
    }
    return cell
      ? { view, cellId: cell.model.id, where: 'above' }
      : { view, ...IN_FILE };
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

  private async _load(): Promise<InlineController> {
    const [{ InlineController }, { InlineSessions }] = await Promise.all([
      import('./controller'),
      import('./sessions')
    ]);
    this._controller ??= new InlineController({
      client: this._client,
      connection: this._connection,
      sessions: new InlineSessions(
        this._client,
        key => new WorkspaceMemory(this._state, key)
      ),
      rendermime: this._rendermime,
      keys: keysInBoxes(this._app.commands, this._ids),
      openPath: (path, from) => {
        const [found] = pathsUnderRoot(path, from);
        if (found) {
          this._manager.openOrReveal(found);
        }
      }
    });
    return this._controller;
  }

  private readonly _followed = new WeakSet<DocumentRegistry.Context>();
  private _controller: InlineController | null = null;
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
    model.proposals.decided.connect((_, of) => {
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
    caption: 'Ask about this cell or file or describe a change',
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
  add(CommandIDs.close, 'Leave the Inline Chat', model => model.putAside());
  add(CommandIDs.next, 'Next Proposed Change', model =>
    model.proposals.move(1)
  );
  add(CommandIDs.previous, 'Previous Proposed Change', model =>
    model.proposals.move(-1)
  );
  add(CommandIDs.acceptOne, 'Accept This Change', model =>
    model.proposals.decide(true)
  );
  add(CommandIDs.rejectOne, 'Reject This Change', model =>
    model.proposals.decide(false)
  );
}
