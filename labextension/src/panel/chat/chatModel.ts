import { AbstractChatModel, IChatContext } from '@jupyter/chat/lib/model';
import { AbstractChatContext } from '@jupyter/chat/lib/model';
import { INewMessage, IUser } from '@jupyter/chat/lib/types';

import { PanelModel } from '../model';

/** Makes `@jupyter/chat`'s input send to the panel; its list of messages stays empty. */
export class InputChatModel extends AbstractChatModel {
  constructor(private readonly _panel: PanelModel) {
    super({ config: { sendTypingNotification: false } });
  }

  /** Send what was written; where that fails it comes back into the input. */
  sendMessage({ body }: INewMessage): void {
    if (!body.trim()) {
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

/** The people in the chat: nobody who could be mentioned. */
class NobodyElse extends AbstractChatContext {
  get users(): IUser[] {
    return [];
  }
}
