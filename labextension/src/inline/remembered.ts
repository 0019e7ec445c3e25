import { IAsked, IOpenChat, OpenChats } from './openChats';
import { InlineSessions } from './sessions';
import { IInlineTarget } from './target';

/** So long after the last key, in ms, what is typed is remembered. */
const DRAFT_MS = 400;

/** What is remembered of one inline chat, so that it comes back: what was asked, decided and typed. */
export class Remembered {
  constructor(
    private readonly _target: IInlineTarget,
    private readonly _sessions: InlineSessions
  ) {}

  /** What is typed and was not sent. */
  get draft(): string {
    return this._draft;
  }

  /** A message was sent, in place of what was asked before. */
  asked(asked: IAsked): void {
    const { anchor: spot, subject, path } = this._target;
    const { base, selection } = subject;
    this._chats.keep({
      ...asked,
      ...spot,
      base,
      selection: selection ?? undefined,
      path,
      done: []
    });
  }

  /** It came back, and is to come back again. */
  restored(chat: IOpenChat): void {
    this._chats.keep(chat);
  }

  typed(text: string): void {
    this._dropDraft();
    this._draft = text;
    this._timer = setTimeout(() => this.keepDraft(), DRAFT_MS);
  }

  /** Now, as there may be no time later. */
  keepDraft(): void {
    if (this._timer !== null) {
      clearTimeout(this._timer);
      this._timer = null;
      this._chats.draft(this._target.anchor, this._draft);
    }
  }

  /** What was typed is sent. */
  sent(): void {
    this._dropDraft();
    this._chats.draft(this._target.anchor, '');
  }

  /** A proposal is decided, by the key that the review gives it. */
  decided(key: string): void {
    this._chats.decided(this._target.anchor, key);
  }

  /** These hunks of a proposal are rejected. */
  rejected(key: string, ids: readonly number[]): void {
    this._chats.rejected(this._target.anchor, key, ids);
  }

  /** The user leaves it, with what is typed; or opens it again. */
  setAside(isAside: boolean): void {
    this.keepDraft();
    this._chats.setAside(this._target.anchor, isAside);
  }

  forget(): void {
    this._dropDraft();
    this._chats.forget(this._target.anchor);
  }

  private _dropDraft(): void {
    clearTimeout(this._timer ?? undefined);
    this._timer = null;
    this._draft = '';
  }

  /** Those of the document as it is called now. */
  private get _chats(): OpenChats {
    return this._sessions.openChats(this._target.path);
  }

  private _draft = '';
  private _timer: ReturnType<typeof setTimeout> | null = null;
}
