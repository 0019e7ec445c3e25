import { ContextReply, Event, WorkflowCall } from '../api/types';
import { Decided } from '../proposals/decided';
import { toolsIn } from './chat/references';
import { NOTHING_TYPED, typedIn } from './chat/typed';
import type { PanelModel } from './model';
import { Outbox } from './outbox';
import { isPlanned } from './planned';
import { IPanelConnection } from './services';
import { isGone } from './sessionDesk';
import { Value } from './state/value';

/** A ready piece of work that is sent in the person's words: it needs no model. */
export interface IWork {
  workflow: WorkflowCall;
  /** The notebook that it is about; else the one in front. */
  notebook?: string;
}

/** The person's messages: what goes with each, and what became of those that could not be sent. */
export class MessageDesk {
  constructor(
    private readonly _panel: PanelModel,
    private readonly _connection: IPanelConnection
  ) {}

  /** Those that are on their way or wait. */
  readonly sending = new Outbox();
  /** The message that the server refused last, after it had taken it. */
  readonly returned = new Value<{ message: string } | null>(null);
  /** What became of proposals, for the next message. */
  readonly decided = new Decided();

  /** Send a message; false, with a notice, where it could not be sent. */
  async send(message: string, work?: IWork): Promise<boolean> {
    this._panel.notice.set(null);
    this._panel.told.set(null);
    if (this._panel.link.current.status === 'offline') {
      return false; // The panel says so all the time.
    }
    if (!this._panel.models.current) {
      await this._panel.refreshModels();
    }
    if (
      !work &&
      !this._panel.readiness.isReady &&
      !isPlanned(
        message,
        this._panel.choices.current,
        this._panel.shown.current.store
      )
    ) {
      this._needModel();
      return false;
    }
    this._panel.datasets.forgetReports();
    const sending = this.sending.add(message);
    try {
      const sessionId = await this._panel.sessions.ensure();
      const typed = work
        ? NOTHING_TYPED
        : await typedIn(message, this._panel.references);
      if (typed.attachments.length) {
        this._panel.choices.attach(...typed.attachments);
      }
      const { mode, model, attachments, tools, planFirst } =
        this._panel.choices.current;
      const decided = this.decided.of(sessionId);
      const opId = await this._connection.submit(sessionId, {
        type: 'user_message',
        request: {
          message,
          sessionId,
          mode,
          model,
          attachments: [...attachments],
          toolReferences: [...new Set([...tools, ...toolsIn(message)])],
          activeNotebook: work?.notebook ?? this._panel.editor.activeNotebook,
          clientId: this._connection.clientId,
          location: 'panel',
          decided: [...decided],
          planFirst,
          // The person's own click is what lets it act: the server carries it out in Agent mode.
          workflow: work?.workflow
        }
      });
      this._panel.ops.add(opId);
      this.sending.accepted(sending, opId);
      this.decided.said(sessionId, decided);
      // A tool was meant for this message; what is attached stays for the next ones.
      this._panel.choices.patch({ tools: [] });
      if (typed.nothing.length) {
        const message = `Not attached: ${typed.nothing.join(', ')}.`;
        this._panel.notice.set({ level: 'info', message });
      }
      return true;
    } catch (error) {
      this.sending.remove(sending);
      this._sendFailed(error);
      return false;
    }
  }

  /** What the next message would send with it, as things are now. */
  context(): Promise<ContextReply> {
    const { mode, model, attachments, tools } = this._panel.choices.current;
    return this._panel.client.context({
      sessionId: this._panel.shown.current.sessionId ?? undefined,
      mode,
      model,
      attachments,
      toolReferences: tools,
      activeNotebook: this._panel.editor.activeNotebook,
      clientId: this._connection.clientId,
      location: 'panel'
    });
  }

  /** What the server says of a message. */
  onEvent(event: Event): void {
    const refused = this.sending.onEvent(event);
    if (refused !== null) {
      this.returned.set({ message: refused });
    }
  }

  /** No session and no turn is made of a message that nobody could answer. */
  private _needModel(): void {
    const why = this._panel.readiness.other
      ? 'the chosen model cannot be used now'
      : 'no model is connected';
    this._panel.notice.set({
      level: 'error',
      message: `Not sent: ${why}. What you wrote stays in the input.`,
      needs: 'model'
    });
    // One may have been connected meanwhile.
    void this._panel.refreshModels();
  }

  private _sendFailed(error: unknown): void {
    if (!isGone(error) || !this._panel.shown.current.sessionId) {
      this._panel.tell(error);
      return;
    }
    this._panel.sessions.startNew();
    this._panel.notice.set({
      level: 'error',
      message:
        'Not sent: this session was deleted. Send again to begin a new one.'
    });
  }
}
