import { ScratchpadCell } from '../../api/types';
import { IEditor } from '../../notebook/editor';
import { IActionNotice } from '../modelOptions';
import { IPanelClient } from '../../api/services';
import { forNotebook } from '../../session/turnLinks';

/** What a `ScratchpadController` works with, and whom it notifies. */
export interface IScratchpadControllerOptions {
  client: Pick<IPanelClient, 'addToScratchpad'>;
  editor: IEditor;
  clientId: string;
  notifyAction: (notice: IActionNotice) => void;
  reportError: (error: unknown) => void;
}

/** Something to keep: a cell, and the turn that it is from. */
export type IKept = Pick<ScratchpadCell, 'content' | 'turnId'> &
  Partial<ScratchpadCell>;

/** The notebook for what is worth keeping of conversations. */
export class ScratchpadController {
  constructor(private readonly _options: IScratchpadControllerOptions) {}

  /** Add cells to the scratchpad, after what was sent before them, and say so. */
  send(...cells: IKept[]): Promise<void> {
    // One at a time: requests of one page may overtake each other.
    this._sent = this._sent.then(() => this._send(cells));
    return this._sent;
  }

  /** Add cells to a scratchpad: the one that is open and marked, else `scratchpad.ipynb`. */
  async add(
    cells: readonly IKept[],
    path = this._options.editor.markedScratchpad ?? undefined
  ) {
    const { client, clientId } = this._options;
    return client.addToScratchpad({
      path,
      clientId,
      show: false,
      cells: cells.map(cell => ({
        ...cell,
        type: cell.type ?? 'markdown',
        content:
          cell.type === 'code' ? cell.content : forNotebook(cell.content),
        outputs: cell.outputs ?? []
      }))
    });
  }

  /** Open the scratchpad beside what is open; it is made where there is none. */
  async open(): Promise<void> {
    try {
      const { path } = await this.add([]);
      await this._options.editor.openBeside(path);
    } catch (error) {
      this._options.reportError(error);
    }
  }

  private async _send(cells: readonly IKept[]): Promise<void> {
    const path = await this.add(cells).catch(this._options.reportError);
    if (path) {
      this._options.notifyAction({
        message: `Added to ${path.path}.`,
        action: {
          label: 'Open',
          run: () => this._reveal(path.path, path.cellIds?.[0])
        }
      });
    }
  }

  private _reveal(path: string, cellId?: string): void {
    const { editor, reportError } = this._options;
    editor
      .openBeside(path)
      .then(() => (cellId ? editor.reveal(path, cellId) : undefined))
      .catch(reportError);
  }

  private _sent: Promise<void> = Promise.resolve();
}
