import { Cell, CodeCell } from '@jupyterlab/cells';
import {
  INotebookTracker,
  Notebook,
  NotebookActions,
  NotebookPanel
} from '@jupyterlab/notebook';

import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/connection';
import { Documents } from '../bridge/documents';
import { whenTheyType } from '../errors/person';
import { Ghost } from './ghost';
import { Suggester } from './suggester';

/** What suggestions are made with. */
export interface ISuggestOptions {
  tracker: INotebookTracker;
  documents: Documents;
  client: AgentClient;
  connection: IPageConnection;
  /** Whether the person wants them. */
  isEnabled: () => boolean;
  /** The model that is asked; undefined for the usual one. */
  model: () => string | undefined;
}

interface IPlace {
  panel: NotebookPanel;
  cell: CodeCell;
}

/** Suggests the next cell after the person ran one. */
export class SuggestDesk {
  constructor(private readonly _options: ISuggestOptions) {
    NotebookActions.executionScheduled.connect(() => this._suggester.cancel());
    NotebookActions.executed.connect((_, { notebook, cell, success }) =>
      this._onExecuted(notebook, cell, success)
    );
  }

  /** Take back what is shown: the person wants none any more. */
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
      !panel.model?.readOnly
    ) {
      this._suggester.ran({ panel, cell });
    }
  }

  private async _ask(
    { panel, cell }: IPlace,
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

  private readonly _suggester = new Suggester<IPlace>({
    ask: (place, signal) => this._ask(place, signal),
    show: (place, source) =>
      isFree(place)
        ? new Ghost(place.panel, place.cell, source, () =>
            this._suggester.cancel()
          )
        : null,
    whenTheyType: tell => whenTheyType(document.body, tell)
  });
}

/** Whether the cell is on the page, with no inline chat in its notebook. */
function isFree({ panel, cell }: IPlace): boolean {
  return (
    !panel.isDisposed &&
    panel.isVisible &&
    !cell.isDisposed &&
    cell.isAttached &&
    !panel.content.node.querySelector('.da-inline')
  );
}
