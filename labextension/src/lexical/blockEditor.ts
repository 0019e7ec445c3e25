import { INode } from './document';

/** What the user made of a block: its source, or nodes, of which the first takes its place. */
export type BlockValue =
  | { readonly content: string }
  | { readonly nodes: readonly INode[] };

/** An editor of one block. */
export interface IBlockEditor {
  readonly node: HTMLElement;
  readonly value: BlockValue;
  readonly isChanged: boolean;
  focus(): void;
  dispose(): void;
}
