import { CodeCell } from '@jupyterlab/cells';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';

import { messageOf } from '../api/errors';
import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/pageConnection';
import { FixesReply } from '../api/types';
import { Documents } from '../notebook/documents';
import { IInlineChats } from '../inline/token';
import { knownOf } from './explanations';
import { failureOf } from '../notebook/kernel/failure';
import { forEachLoadedNotebook } from '../notebook/forEachNotebook';
import { FixRunner } from './fixRunner';
import { IErrorActions, watchErrors } from './watch';

const EXPLAIN =
  'Explain the error of this cell: what it means, and why it happens here. Change nothing.';

/** What the errors of cells are worked on with. */
export interface IErrorControllerOptions {
  tracker: INotebookTracker;
  documents: Documents;
  chats: IInlineChats;
  client: AgentClient;
  connection: IPageConnection;
  /** Whether it is said at an error that a fix is known. */
  hints: () => boolean;
}

/** What is done about the errors that cells show. */
export class ErrorController implements IErrorActions {
  constructor(private readonly _options: IErrorControllerOptions) {
    forEachLoadedNotebook(_options.tracker, panel => watchErrors(panel, this));
  }

  fix(panel: NotebookPanel, cell: CodeCell, andRun: boolean): void {
    void this._fix(panel, cell, andRun);
  }

  explain(panel: NotebookPanel, cell: CodeCell): void {
    void this._explain(panel, cell);
  }

  async hint(panel: NotebookPanel, cell: CodeCell): Promise<string> {
    if (!this._options.hints()) {
      return '';
    }
    const { fixes } = await this._fixes(panel, cell);
    return fixes.length ? `Known fix: ${fixes[0].title}` : '';
  }

  private async _fix(
    panel: NotebookPanel,
    cell: CodeCell,
    andRun: boolean
  ): Promise<void> {
    const { chats, client, connection, documents } = this._options;
    const chat = await chats.onCell(panel, cell);
    if (chat && !chat.isWorking) {
      const fixing = new FixRunner({
        panel,
        cell,
        chat,
        next: tried =>
          client.nextFix({ ...this._where(panel, cell), tried: [...tried] }),
        acts: changes =>
          client.acts({
            path: documents.pathOf(panel.context) ?? '',
            clientId: connection.clientId,
            changes
          })
      });
      await fixing.start(andRun);
    }
  }

  private async _explain(panel: NotebookPanel, cell: CodeCell): Promise<void> {
    const { chats, client } = this._options;
    const failure = failureOf(cell.model);
    const chat = await chats.onCell(panel, cell, 'below');
    if (!chat || chat.isWorking || !failure) {
      return;
    }
    chat.busy('Explain the error', 'Looking');
    try {
      const models = await client.models();
      if (models.ready) {
        await chat.send(EXPLAIN, 'Explain the error');
        return;
      }
      const { fixes } = await this._fixes(panel, cell).catch(() => ({
        fixes: []
      }));
      chat.showAnswer('Explain the error', knownOf(failure, fixes, models));
    } catch (error) {
      chat.state.patch({
        activity: null,
        notice: messageOf(error)
      });
    }
  }

  private async _fixes(
    panel: NotebookPanel,
    cell: CodeCell
  ): Promise<FixesReply> {
    return this._options.client.fixes(this._where(panel, cell));
  }

  private _where(
    panel: NotebookPanel,
    cell: CodeCell
  ): { path: string; cellId: string; clientId: string } {
    const { connection, documents } = this._options;
    const path = documents.pathOf(panel.context) ?? '';
    return { path, cellId: cell.model.id, clientId: connection.clientId };
  }
}
