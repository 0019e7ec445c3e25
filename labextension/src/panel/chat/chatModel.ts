import { AbstractChatModel, IChatContext } from '@jupyter/chat/lib/model';
import { AbstractChatContext } from '@jupyter/chat/lib/model';
import { INewMessage, IUser } from '@jupyter/chat/lib/types';

import { PanelModel } from '../model';

/** Makes `@jupyter/chat`'s input send to the panel; its list of messages stays empty. */
export class InputChatModel extends AbstractChatModel {
  constructor(private readonly _panel: PanelModel) {
    super({ config: { sendTypingNotification: false } });
    _panel.returned.subscribe(() => {
      const { current } = _panel.returned;
      if (current && !this.input.value) {
        this.input.value = current.message;
      }
    });
  }

  /** Send what was written; where that fails it comes back into the input. */
  sendMessage({ body }: INewMessage): void {
    if (!body.trim()) {
      return;
    }
    const unknown = unknownCommand(body);
    if (unknown) {
      this._panel.notice.set({
        level: 'info',
        message: `There is no command ${unknown}; /help lists them. To send it as a message, put a word before it.`
      });
      this.input.value = body;
      return;
    }
    void this._panel.send(body.trim()).then(isSent => {
      if (!isSent && !this.input.value) {
        this.input.value = body;
      }
    });
  }

  createChatContext(): IChatContext {
    return new NobodyElse({ model: this });
  }
}

/** The word that looks like a command and is none, as those that are never come here. */
function unknownCommand(body: string): string | null {
  return /^\s*(\/[a-z][\w-]*)\s*$/i.exec(body)?.[1] ?? null;
}

/** The people in the chat: nobody who could be mentioned. */
class NobodyElse extends AbstractChatContext {
  get users(): IUser[] {
    return [];
  }
}
