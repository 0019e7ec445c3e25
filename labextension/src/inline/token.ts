import { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';

import type { InlineModel } from './model';

/** Inline chats, for the page's other parts: to open one with something in it. */
export interface IInlineChats {
  /**
   * The inline chat on a cell, opened where there is none: above the editor, or, as another one,
   * under the output. Null for a notebook that is not the server's.
   */
  onCell(
    panel: NotebookPanel,
    cell: Cell,
    where?: 'above' | 'below'
  ): Promise<InlineModel | null>;
}

/** The token of the inline chats. */
export const IInlineChats = new Token<IInlineChats>(
  'jupyter-datalayer-agent:IInlineChats',
  'The inline chats of the agent.'
);
