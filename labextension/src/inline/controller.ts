import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';

import { IPanelClient, IPanelConnection } from '../api/services';
import { PanelSanitizer } from '../ui/sanitizer';
import { InlineBox } from './box';
import type { FirstKeys } from './keys';
import { InlineModel } from './model';
import { IOpenChat, wasAsked } from './openChats';
import { InlineSessions } from './sessions';
import { IInlineTarget, IChatAnchor } from './target';

/** What the controller works with. */
export interface IInlineControllerOptions {
  client: Pick<IPanelClient, 'dryRun'>;
  connection: IPanelConnection;
  sessions: InlineSessions;
  rendermime: IRenderMimeRegistry;
  openPath: (path: string, from: string) => void;
  /** The shortcuts of the page that work in boxes too. */
  keys: FirstKeys;
}

/** Where a chat is: in a view of a notebook on a cell, or in a view of a file. */
export interface IInlinePlace extends IChatAnchor {
  view: Widget;
}

interface IChat {
  place: IInlinePlace;
  model: InlineModel;
  box: InlineBox;
  /** The user has left it as it is. */
  isAside: boolean;
}

/** The inline chats that are open in the page. */
export class InlineController {
  constructor(private readonly _options: IInlineControllerOptions) {
    const { rendermime } = _options;
    this._rendermime = rendermime.clone({
      sanitizer: new PanelSanitizer(rendermime.sanitizer)
    });
  }

  /**
   * Open an inline chat, or go to the one that is there; with `restored`, one that was open before,
   * without going there, unless the user has left it aside and opens it now.
   */
  open(
    place: IInlinePlace,
    makeTarget: () => IInlineTarget,
    restored?: IOpenChat
  ): InlineModel {
    const isGoneTo = !restored || restored.isAside === true;
    const there = this._chats.find(chat => isAt(chat, place));
    if (there) {
      if (isGoneTo) {
        this._goTo(there);
      }
      return there.model;
    }
    const target = makeTarget();
    const { client, connection, sessions, openPath } = this._options;
    const model = new InlineModel({
      target,
      client,
      connection,
      sessions,
      isRestored: !isGoneTo,
      onClose: () => this._close(chat),
      onAside: () => {
        chat.isAside = true;
        target.detach();
      }
    });
    const box = new InlineBox({
      model,
      rendermime: this._rendermime,
      openPath: path => openPath(path, target.path),
      openFile: path => openPath(path, '')
    });
    this._options.keys.listenIn(box.node);
    const chat: IChat = { place, model, box, isAside: false };
    this._chats.push(chat);
    target.attach(box);
    if (restored) {
      model.resume({ ...restored, isAside: undefined });
    }
    if (isGoneTo) {
      box.focusInput();
    }
    return model;
  }

  /** What was left aside at a place before the document was closed; undefined for nothing. */
  async leftAside(
    path: string,
    place: IInlinePlace
  ): Promise<IOpenChat | undefined> {
    if (this._chats.some(chat => isAt(chat, place))) {
      return undefined;
    }
    const chat = (await this.sessions.openChats(path).all()).find(
      ({ cellId, where, isAside }) =>
        isAside && cellId === place.cellId && where === place.where
    );
    const isKnown =
      chat &&
      (!wasAsked(chat) || (await this.sessions.has(path, chat.sessionId)));
    return isKnown ? chat : undefined;
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

  /** The chat whose proposals the keys mean: that of the place first, then one that waits. */
  of(place: IInlinePlace | null): InlineModel | null {
    const shown = this._chats.filter(({ isAside }) => !isAside);
    const chat =
      (place && shown.find(each => isAt(each, place))) ??
      shown.find(({ model }) => model.state.current.pending.count > 0);
    return chat?.model ?? null;
  }

  private _goTo(chat: IChat): void {
    const { model, box } = chat;
    if (chat.isAside) {
      chat.isAside = false;
      model.target.attach(box);
      model.reopen();
    }
    model.continue();
    box.focusInput();
  }

  private _close(chat: IChat): void {
    this._chats = this._chats.filter(each => each !== chat);
    chat.box.dispose();
  }

  private readonly _rendermime: IRenderMimeRegistry;
  private _chats: IChat[] = [];
}

function isAt(
  { place }: IChat,
  { view, cellId, where }: IInlinePlace
): boolean {
  return (
    place.view === view && place.cellId === cellId && place.where === where
  );
}
