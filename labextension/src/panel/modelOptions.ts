import type { Ask } from './sessionList/ask';
import { IEditor } from '../notebook/editor';
import { IPanelClient, IPanelConnection } from '../api/services';
import { IMemory } from '../ui/memory';

/** A sentence above the input. */
export interface INotice {
  level: 'error' | 'info';
  message: string;
  /** What is missing; the notice goes when it is there. */
  needs?: 'model';
}

/** Something that was done, with one thing to do about it. */
export interface IActionNotice {
  message: string;
  action: { label: string; run: () => void };
}

/** What a `PanelModel` is made of. */
export interface IPanelModelOptions {
  client: IPanelClient;
  connection: IPanelConnection;
  editor: IEditor;
  memory: IMemory;
  /** Which tutorial the page shows; left out, that is forgotten by a reload. */
  tutorialMemory?: IMemory;
  /** Which model answers questions about the past. */
  strategistMemory?: IMemory;
  /** Which models were compared last. */
  compareMemory?: IMemory;
  /** Asks the user; left out, the answer is no. */
  ask?: Ask;
}
