import { Cell, CodeCell } from '@jupyterlab/cells';
import {
  INotebookTracker,
  Notebook,
  NotebookActions,
  NotebookPanel
} from '@jupyterlab/notebook';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/pageConnection';
import { isAgentsRun } from '../notebook/kernel/agentRuns';
import { Documents } from '../notebook/documents';
import { onUserTyping } from '../notebook/userActivity';
import { NextCellSuggestion } from './nextCellSuggestion';
import { Suggester } from './suggester';

/** A question to the agent, whose answer comes by itself. */
const MAGIC = /^[ \t]*%%?agent\b/m;

/** What suggestions are made with. */
export interface ISuggestOptions {
  tracker: INotebookTracker;
  documents: Documents;
  client: AgentClient;
  connection: IPageConnection;
  /** Whether the user wants them. */
  isEnabled: () => boolean;
  /** The model that is asked; undefined for the usual one. */
  model: () => string | undefined;
}

interface ICellOfPanel {
  panel: NotebookPanel;
  cell: CodeCell;
}

/** Suggests the next cell after the user ran one. */
export class SuggestController {
  constructor(private readonly _options: ISuggestOptions) {
    NotebookActions.executionScheduled.connect(() => this._suggester.cancel());
    NotebookActions.executed.connect((_, { notebook, cell, success }) =>
      this._onExecuted(notebook, cell, success)
    );
  }

  /** Remove what is shown: the user wants none any more. */
  cancel(): void {
    this._suggester.cancel();
  }

  private _onExecuted(notebook: Notebook, cell: Cell, success: boolean): void {
    const { tracker, isEnabled } = this._options;
    const panel = tracker.find(({ content }) => content === notebook);
    if (
      panel &&
      success &&
      isEnabled() &&
      cell instanceof CodeCell &&
      !isAgentsRun(cell) &&
      !MAGIC.test(cell.model.sharedModel.getSource()) &&
      !panel.model?.readOnly
    ) {
      this._suggester.ran({ panel, cell });
    }
  }

  private async _ask(
    { panel, cell }: ICellOfPanel,
    signal: AbortSignal
  ): Promise<string> {
    const { client, connection, documents, model } = this._options;
    const path = documents.pathOf(panel.context);
    if (path === null || !isFree({ panel, cell })) {
      return '';
    }
    const { source } = await client.nextCell(
      {
        path,
        cellId: cell.model.id,
        clientId: connection.clientId,
        model: model()
      },
      signal
    );
    return source;
  }

  private readonly _suggester = new Suggester<ICellOfPanel>({
    ask: (place, signal) => this._ask(place, signal),
    show: (place, source) =>
      isFree(place)
        ? new NextCellSuggestion(place.panel, place.cell, source, () =>
            this._suggester.cancel()
          )
        : null,
    onUserTyping: notify => onUserTyping(document.body, notify)
  });
}

/** Whether the cell is on the page, with no inline chat in its notebook. */
function isFree({ panel, cell }: ICellOfPanel): boolean {
  return (
    !panel.isDisposed &&
    panel.isVisible &&
    !cell.isDisposed &&
    cell.isAttached &&
    !panel.content.node.querySelector('.da-inline')
  );
}
