import { AbstractChatModel, IChatContext } from '@jupyter/chat/lib/model';
import { AbstractChatContext } from '@jupyter/chat/lib/model';
import { INewMessage, IUser } from '@jupyter/chat/lib/types';

import { commandIn } from './commandIn';
import { ISubmitted } from './messageController';
import { PanelModel } from '../model';

/** Makes `@jupyter/chat`'s input send to the panel; its list of messages stays empty. */
export class InputChatModel extends AbstractChatModel {
  constructor(
    private readonly _panel: PanelModel,
    private readonly _isCommand: (name: string) => boolean
  ) {
    super({ config: { sendTypingNotification: false } });
    _panel.messages.returned.subscribe(() => {
      const { current } = _panel.messages.returned;
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
    const name = commandIn(body);
    if (name && this._isCommand(name)) {
      this._panel.notice.set({
        level: 'error',
        message: `Not sent: ${name} does not take this argument. /help lists the commands. To send it as a message, start with another word.`
      });
      // The input empties itself when this returns.
      queueMicrotask(() => this._giveBack(body));
      return;
    }
    if (name) {
      // For a service, or answered with the nearest that there are.
      void this.submit(body.trim());
      return;
    }
    void this._askAndSubmit(body.trim());
  }

  /** Ask for a notebook where the message needs one attached; an action needs it active alone. */
  private async _askAndSubmit(message: string): Promise<void> {
    const { messages, notebookQuestion, services } = this._panel;
    const { submitted } = messages;
    const isForAction =
      notebookQuestion.isDueFor(message) && (await services.isFor(message));
    if (isForAction) {
      notebookQuestion.set(null);
    } else if (notebookQuestion.ask(message)) {
      // The input empties itself when sending returns.
      queueMicrotask(() => this._giveBack(message));
      return;
    }
    await this.submit(message, submitted);
  }

  /** Send a message about which nothing is to be asked any more. */
  async submit(message: string, submitted?: ISubmitted): Promise<void> {
    if (!(await this._panel.send(message, undefined, submitted))) {
      this._giveBack(message);
    }
  }

  /** What was not sent goes back into the input, unless the user wrote on. */
  private _giveBack(body: string): void {
    this.input.value ||= body;
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
