import type { ISignal } from '@lumino/signaling';

import type { Change } from '../api/types';
import type { IEditor } from '../panel/editor';
import type { Following } from '../panel/following';
import type { IPanelClient } from '../panel/services';
import type { ITurn } from '../panel/state/turn';
import type { IReadable } from '../panel/state/value';

/** A session, as far as its changes go. */
export interface IChangedSession {
  readonly sessionId: string | null;
  readonly store: {
    readonly conversation: IReadable<{
      readonly runningTurnId?: string;
      readonly turnIds: readonly string[];
    }>;
    /** The turns with changes that nobody has decided on, the newest first. */
    readonly open: IReadable<readonly ITurn[]>;
    turn(id: string): IReadable<ITurn>;
  };
}

/** Where decisions are made, wherever in the page they are asked for. */
export interface IChangesDecider {
  /** The turn about which a decision is under way. */
  readonly deciding: IReadable<string | null>;
  keep(turnId: string, cellIds?: string[]): void;
  undo(turnId: string, cellIds?: string[]): void;
  /** The person wants to see the whole diff of a turn. */
  readonly diffWanted: ISignal<unknown, string>;
}

/** What the agent changed, by the session that the panel shows: the one truth in the page. */
export interface IChangesSource {
  readonly shown: IReadable<IChangedSession>;
  readonly changes: IChangesDecider;
  readonly editor: Pick<IEditor, 'reveal' | 'cell'>;
  readonly following: Following;
  readonly client: Pick<IPanelClient, 'turnChanges' | 'getTurn'>;
}

/** What of a change matters where it is shown. */
export type ChangeOp = Change['op'];
