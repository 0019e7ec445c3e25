import { IMemory } from '../ui/memory';

/** A message of an inline chat, and where its answer is found. */
export interface IAsked {
  sessionId: string;
  opId: string;
  /** The `seq` of the last event before it was sent. */
  after: number;
  message: string;
  /** What is in the box in place of the message. */
  shown: string;
}

/** An inline chat that the user has not closed. */
export interface IOpenChat extends IAsked {
  /** The cell that it is on; empty for a text file, which has one chat. */
  cellId: string;
  where: 'above' | 'below';
  /** The text of the cell, or of the file, when it was asked. */
  base: string;
  /** What was selected in it then, if anything was. */
  selection?: readonly [number, number];
  /** What the document was called then: its answer calls it so. */
  path?: string;
  /** What of its proposals is decided, by the keys that the review gives them. */
  done: readonly string[];
  /** The pieces that are rejected of the others, by the same keys. */
  rejected?: Readonly<Record<string, readonly number[]>>;
  /** What is typed and was not sent. */
  draft?: string;
  /** The user has left it as it is: it is shown again when they open a chat there, not by itself. */
  isAside?: boolean;
}

type Spot = Pick<IOpenChat, 'cellId' | 'where'>;

/** The place of an inline chat in a text file. */
export const IN_FILE = { cellId: '', where: 'above' } as const;

/** Of a chat in which nothing was asked yet. */
const UNASKED = {
  sessionId: '',
  opId: '',
  after: 0,
  message: '',
  shown: '',
  base: '',
  done: []
} as const;

/** Whether anything was asked in a chat. */
export function wasAsked({ opId }: IOpenChat): boolean {
  return opId !== '';
}

/** A chat on a longer text, in characters, does not come back: what pages remember is small. */
const MAX_BASE = 100_000;

/**
 * The inline chats of a document that were neither closed nor decided on: after a reload, and when the
 * document is opened again, they come back.
 */
export class OpenChats {
  constructor(private _memory: IMemory) {}

  all(): Promise<readonly IOpenChat[]> {
    this._chats ??= this._memory.load().then(read);
    return this._chats;
  }

  /** Remember a chat in place of what was asked on its cell before. */
  keep(chat: IOpenChat): void {
    const kept = chat.base.length > MAX_BASE ? [] : [chat];
    this._change(chats => [...chats.filter(isNot(chat)), ...kept]);
  }

  /** Remember them elsewhere from now on: the document was renamed. */
  moveTo(memory: IMemory): void {
    this._change(chats => {
      if (chats.length) {
        this._memory.save(null);
      }
      this._memory = memory;
      return chats;
    });
  }

  /** One more proposal is decided. */
  decided(spot: Spot, key: string): void {
    this._update(spot, chat => ({ ...chat, done: [...chat.done, key] }));
  }

  /** These hunks of a proposal are rejected. */
  rejected(spot: Spot, key: string, ids: readonly number[]): void {
    this._update(spot, chat => ({
      ...chat,
      rejected: { ...chat.rejected, [key]: ids }
    }));
  }

  /** What is typed in the chat, which may be all that there is of it; empty for nothing. */
  draft(spot: Spot, text: string): void {
    const isOther = isNot(spot);
    const draft = text || undefined;
    this._change(chats => {
      const there = chats.find(each => !isOther(each)) ?? {
        ...UNASKED,
        ...spot
      };
      const kept = draft || wasAsked(there) ? [{ ...there, draft }] : [];
      return [...chats.filter(isOther), ...kept];
    });
  }

  /** It is left, or opened again. */
  setAside(spot: Spot, isAside: boolean): void {
    this._update(spot, chat => ({ ...chat, isAside: isAside || undefined }));
  }

  forget(spot: Spot): void {
    this._change(chats => chats.filter(isNot(spot)));
  }

  private _update(spot: Spot, update: (chat: IOpenChat) => IOpenChat): void {
    const isOther = isNot(spot);
    this._change(chats =>
      chats.map(each => (isOther(each) ? each : update(each)))
    );
  }

  private _change(
    change: (chats: readonly IOpenChat[]) => readonly IOpenChat[]
  ): void {
    this._chats = this.all().then(before => {
      const chats = change(before);
      if (chats.length || before.length) {
        this._memory.save(chats.length ? JSON.stringify(chats) : null);
      }
      return chats;
    });
  }

  private _chats: Promise<readonly IOpenChat[]> | null = null;
}

function isNot({ cellId, where }: Spot) {
  return (other: IOpenChat) => other.cellId !== cellId || other.where !== where;
}

function read(text: string | null): readonly IOpenChat[] {
  return text ? (JSON.parse(text) as IOpenChat[]) : [];
}

/** Under what the page remembers the inline chats of a document that were not closed. */
export function openChatsKey(path: string): string {
  return `datalayer-agent:inline-open:${path}`;
}
