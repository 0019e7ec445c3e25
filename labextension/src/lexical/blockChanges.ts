import { Notification, showErrorMessage } from '@jupyterlab/apputils';

import { messageOf } from '../api/errors';
import type { ToolResult } from '../api/types';
import { BlockValue } from './blockEditor';
import { IBlock, INode, INPUT, isSame, kindOf } from './document';

/** Calls a tool of the server on the document. */
export type ToolCall = (
  tool: string,
  args: Record<string, unknown>
) => Promise<ToolResult>;

/** A block as the server has it; without a node where it is what code put out. */
export interface IServerBlock {
  readonly id: string;
  readonly index: number;
  readonly content: string;
  readonly node?: INode;
}

/** Changes of blocks by the user, through the server's tools; failures are shown. */
export class BlockChanges {
  constructor(private readonly _tool: ToolCall) {}

  /**
   * The block as the server names it; null, and a message, where the document has changed so that
   * another one is at its place.
   */
  async read(block: IBlock): Promise<IServerBlock | null> {
    const all = await this.call('readAllBlocks', {
      start: block.index,
      limit: 1
    });
    const [found] =
      (all?.output as { blocks?: IServerBlock[] } | null)?.blocks ?? [];
    if (!all) {
      return null;
    }
    if (found?.index === block.index) {
      const one = await this.call('readBlock', { blockId: found.id });
      const read = one?.output as IServerBlock | null | undefined;
      if (!read) {
        return null;
      }
      if (!read.node || isSame(read.node, block.node)) {
        return read;
      }
    }
    await showErrorMessage(
      'Not Changed',
      'The document has just changed. Look at it, and try again.'
    );
    return null;
  }

  /** The block as it is now; "gone" where it was deleted, null where it cannot be read. */
  async readAgain(id: string): Promise<IServerBlock | 'gone' | null> {
    const result = await this._try('readBlock', { blockId: id });
    if (result && !result.ok && result.error?.code === 'not_found') {
      return 'gone';
    }
    return (await this._ok(result))?.output as IServerBlock | null;
  }

  /** Give a block what the user wrote; false where that failed. */
  async update({ id, index, node }: IServerBlock, value: BlockValue) {
    if ('content' in value) {
      const type = node?.type === INPUT ? {} : { type: 'markdown' };
      return this._isOk('updateBlock', { blockId: id, ...value, ...type });
    }
    const [first, ...rest] = value.nodes;
    return (
      (await this._isOk('updateBlock', { blockId: id, node: first })) &&
      (!rest.length || (await this.insert(index + 1, rest)))
    );
  }

  /** Insert what the user wrote, where the block that it was is gone. */
  async add(index: number, type: string, value: BlockValue): Promise<boolean> {
    if ('nodes' in value) {
      return this.insert(index, value.nodes);
    }
    return this._isOk('insertBlock', {
      index,
      type: type === INPUT ? type : 'markdown',
      ...value
    });
  }

  /** Insert blocks by their nodes. */
  insert(index: number, nodes: readonly INode[]): Promise<boolean> {
    return this._isOk('insertBlocks', {
      index,
      blocks: nodes.map(node => ({ node }))
    });
  }

  /** Delete a block, and offer to bring it back. */
  async remove(block: IBlock): Promise<void> {
    const found = await this.read(block);
    if (
      !found ||
      !(await this.call('deleteBlocks', { blockIds: [found.id] }))
    ) {
      return;
    }
    // The view has no undo of its own, and a block is gone by one click.
    Notification.emit(`Deleted this ${kindOf(block.node)}.`, 'default', {
      autoClose: 15000,
      actions: [
        {
          label: 'Undo',
          callback: () =>
            void this.insert(block.index, [block.node, ...block.owned])
        }
      ]
    });
  }

  /** A call that reports its failure; null where it failed. */
  async call(
    tool: string,
    args: Record<string, unknown>
  ): Promise<ToolResult | null> {
    return this._ok(await this._try(tool, args));
  }

  private async _isOk(
    tool: string,
    args: Record<string, unknown>
  ): Promise<boolean> {
    return (await this.call(tool, args)) !== null;
  }

  private async _ok(result: ToolResult | null): Promise<ToolResult | null> {
    if (result && !result.ok) {
      await showErrorMessage(
        'Not Changed',
        [result.error?.message, result.error?.hint].filter(Boolean).join(' ')
      );
      return null;
    }
    return result;
  }

  private async _try(
    tool: string,
    args: Record<string, unknown>
  ): Promise<ToolResult | null> {
    try {
      return await this._tool(tool, args);
    } catch (error) {
      await showErrorMessage('Not Changed', messageOf(error));
      return null;
    }
  }
}
