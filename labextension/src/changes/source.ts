import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';

import type { Change, Event } from '../api/types';
import type { IEditor } from '../notebook/editor';
import type { Following } from '../session/following';
import type { IPanelClient } from '../api/services';
import type { ITurn } from '../session/turn';
import type { IReadable } from '../session/observable';

/** What is known of a session, as far as its changes go. */
export interface IChangedStore {
  readonly conversation: IReadable<{
    readonly runningTurnId?: string;
    readonly turnIds: readonly string[];
  }>;
  /** The turns with changes that nobody has decided on, the newest first. */
  readonly open: IReadable<readonly ITurn[]>;
  /** The number of the newest event that was taken in. */
  readonly lastSeq: number;
  turn(id: string): IReadable<ITurn>;
  apply(event: Event): void;
}

/** The session that is shown; without an id until it has its first message. */
export interface IChangedSession {
  readonly sessionId: string | null;
  readonly store: IChangedStore;
  /** Its turns are not here yet. */
  readonly isLoading: boolean;
}

/** A conversation that was read, to be listened to from there. */
export interface IReadSession {
  readonly store: IChangedStore;
  readonly isRunning: boolean;
}

/** Where decisions are made, wherever in the page they are asked for. */
export interface IChangesDecider {
  /** The turn about which a decision is under way. */
  readonly deciding: IReadable<string | null>;
  keep(turnId: string, cellIds?: string[]): void;
  undo(turnId: string, cellIds?: string[]): void;
  onEvent(event: Event): void;
}

/** What the agent changed, by the session that the panel shows: the one truth in the page. */
export interface IChangesSource {
  readonly shown: IReadable<IChangedSession>;
  readonly changes: IChangesDecider & {
    /** The user wants to see the whole diff of a turn. */
    readonly diffWanted: ISignal<unknown, string>;
  };
  /** Where changes of another session are decided on. */
  deciderOf(sessionId: string): IChangesDecider;
  /** Go on with a session that is shown no more; its store knows of an event before it is notified. */
  listen(
    sessionId: string,
    store: IChangedStore,
    onEvent: (event: Event) => void
  ): IDisposable;
  /** A conversation, shown or not, changed a notebook that is open in the page. */
  readonly touched: ISignal<unknown, { readonly sessionId: string }>;
  /** The connection is there, for the first time or again. */
  readonly connected: ISignal<unknown, void>;
  readonly isConnected: boolean;
  /** The conversations with changes in a notebook that nobody has decided on. */
  waitingIn(path: string): Promise<readonly string[]>;
  /** What is known of a conversation; of a turn that runs, what is to be listened for. */
  read(sessionId: string): Promise<IReadSession>;
  /** Whether the session was deleted while it was shown. */
  isDeleted(sessionId: string): boolean;
  readonly editor: Pick<IEditor, 'reveal' | 'cell'>;
  readonly following: Following;
  readonly client: Pick<IPanelClient, 'turnChanges' | 'turnBlocks' | 'getTurn'>;
}

/** What of a change matters where it is shown. */
export type ChangeOp = Change['op'];
