import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { IPanelConnection } from '../panel/services';
import { PanelSanitizer } from '../panel/sanitizer';
import { InlineBox } from './box';
import { InlineModel } from './model';
import { IOpenChat } from './openChats';
import { InlineSessions } from './sessions';
import { IInlineTarget } from './target';

/** What the desk works with. */
export interface IInlineDeskOptions {
  connection: IPanelConnection;
  sessions: InlineSessions;
  rendermime: IRenderMimeRegistry;
  openPath: (path: string, from: string) => void;
}

interface IChat {
  /** What the chat is on: a cell, or a view of a file. */
  owner: object;
  model: InlineModel;
  box: InlineBox;
}

/** The inline chats that are open in the page. */
export class InlineDesk {
  constructor(private readonly _options: IInlineDeskOptions) {
    const { rendermime } = _options;
    this._rendermime = rendermime.clone({
      sanitizer: new PanelSanitizer(rendermime.sanitizer)
    });
  }

  /**
   * Open an inline chat, or go to the one that is there; with `restored`, one that was open before,
   * without going there.
   */
  open(
    owner: object,
    makeTarget: () => IInlineTarget,
    restored?: IOpenChat
  ): InlineModel {
    const there = this._chats.find(chat => chat.owner === owner);
    if (there) {
      if (!restored) {
        there.model.goOn();
        there.box.focusInput();
      }
      return there.model;
    }
    const target = makeTarget();
    const { connection, sessions, openPath } = this._options;
    const model = new InlineModel({
      target,
      connection,
      sessions,
      isRestored: restored !== undefined,
      onClose: () => this._close(owner)
    });
    const box = new InlineBox({
      model,
      rendermime: this._rendermime,
      openPath: path => openPath(path, target.path)
    });
    this._chats.push({ owner, model, box });
    target.attach(box);
    if (restored) {
      model.resume(restored);
    } else {
      box.focusInput();
    }
    return model;
  }

  /** A document was renamed. */
  moved(from: string, to: string): void {
    for (const { model } of this._chats) {
      if (model.target.path === from) {
        model.target.path = to;
      }
    }
    void this.sessions.moved(from, to);
  }

  get sessions(): InlineSessions {
    return this._options.sessions;
  }

  /** The chat whose proposals an element belongs to: its own cell or file first. */
  of(owner: object | null): InlineModel | null {
    const chat =
      this._chats.find(each => each.owner === owner) ??
      this._chats.find(({ model }) => model.state.current.pending.count > 0);
    return chat?.model ?? null;
  }

  private _close(owner: object): void {
    const chat = this._chats.find(each => each.owner === owner);
    if (chat) {
      this._chats = this._chats.filter(each => each !== chat);
      chat.box.dispose();
    }
  }

  private readonly _rendermime: IRenderMimeRegistry;
  private _chats: IChat[] = [];
}
