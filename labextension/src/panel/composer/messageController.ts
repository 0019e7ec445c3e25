import {
  ActionCall,
  ContextReply,
  Event,
  IntentChoice,
  WorkflowCall
} from '../../api/types';
import { Decided } from '../../proposals/proposalDecisions';
import { ITyped, NOTHING_TYPED, typedIn } from './attachments/typedReferences';
import {
  ComposerState,
  IComposerState,
  settingsOf,
  withAdded
} from './composerState';
import { SendingMessages } from './sendingMessages';
import { commandIn } from './commandIn';
import { isPlanned } from './planned';
import { DatasetController } from '../datasets/datasetController';
import { IEditor } from '../../notebook/editor';
import { ToolsPanel } from '../toolsPanel/toolsPanel';
import { Link } from '../link';
import { IActionNotice, INotice } from '../modelOptions';
import { IPanelClient, IPanelConnection } from '../../api/services';
import {
  isGone,
  IShown,
  SessionController
} from '../sessionList/sessionController';
import { ConversationStore } from '../../session/store';
import { Observable } from '../../session/observable';
import { IReadiness, Models } from './models';
import { Ops } from '../ops';
import { References, toolsIn } from './attachments/references';

/** What the user chose that is to be done about a message, beside the model's answer. */
export interface IWork {
  /** Carried out as it is: it needs no model. */
  workflow?: WorkflowCall;
  /** Run with the values of its form: it needs no model. */
  action?: ActionCall;
  /** The service that the message is for; without one it is an ordinary message. */
  intent?: IntentChoice;
  /** The models that answer it side by side; they only read. */
  compare?: readonly string[];
  /** The notebook that it is about; else the active one. */
  notebook?: string;
}

/** What a message is about, fixed when it is submitted. */
export interface ISubmitted {
  /** The session in which it was written. */
  shown: IShown;
  composerState: IComposerState;
  /** The active notebook or Lexical document. */
  activeNotebook: string | null;
}

/** The parts of the panel that sending a message needs. */
export interface IMessageServices {
  client: IPanelClient;
  editor: IEditor;
  sessions: SessionController;
  composerState: ComposerState;
  references: References;
  link: Link;
  models: Models;
  datasets: DatasetController;
  toolsPanel: ToolsPanel;
  ops: Ops;
  notice: Observable<INotice | null>;
  actionNotice: Observable<IActionNotice | null>;
  /** Whether a message to this model, or to the default one, could be answered. */
  readinessOf: (model: string | undefined) => IReadiness;
  refreshModels: () => Promise<void>;
  reportError: (error: unknown) => void;
}

/** Sends the user's messages with their settings, and returns those that were refused. */
export class MessageController {
  constructor(
    private readonly _panel: IMessageServices,
    private readonly _connection: IPanelConnection
  ) {}

  /** Those that are on their way or wait. */
  readonly sending = new SendingMessages();
  /** The message that the server refused last, after it had taken it. */
  readonly returned = new Observable<{ message: string } | null>(null);
  /** What became of proposals, for the next message. */
  readonly decided = new Decided();

  /** What a message that is submitted now is about. */
  get submitted(): ISubmitted {
    return {
      shown: this._panel.sessions.shown.current,
      composerState: this._panel.composerState.current,
      activeNotebook: this._panel.editor.activeDocument
    };
  }

  /**
   * Send a message; false, with a notice, where it could not be sent. What happens in the page
   * after it was submitted does not redirect it.
   */
  async send(
    message: string,
    work?: IWork,
    submitted = this.submitted
  ): Promise<boolean> {
    const { shown, composerState } = submitted;
    const typing =
      work && !work.intent && !work.compare
        ? Promise.resolve(NOTHING_TYPED)
        : typedIn(message, this._panel.references);
    this._panel.notice.set(null);
    this._panel.actionNotice.set(null);
    if (this._panel.link.current.status === 'offline') {
      return false; // The panel says so all the time.
    }
    if (!this._panel.models.current) {
      await this._panel.refreshModels();
    }
    if (
      !work?.compare &&
      !this._panel.readinessOf(composerState.model).isReady &&
      !isPlanned(message, composerState, shown.store) &&
      !(await this._needsNoModel(message, shown.store, work))
    ) {
      this._needModel(!!work);
      return false;
    }
    this._panel.datasets.forgetReports();
    const sending = this.sending.add(message);
    this._panel.toolsPanel.sent();
    try {
      const typed = await typing;
      const attachments = withAdded(
        composerState.attachments,
        typed.attachments
      );
      const sessionId = await this._panel.sessions.ensure(
        shown,
        settingsOf({ ...composerState, attachments })
      );
      const decided = this.decided.of(sessionId);
      const opId = await this._connection.submit(sessionId, {
        type: 'user_message',
        request: {
          message,
          sessionId,
          // The user's own click is what lets an action act.
          mode: work?.action ? 'agent' : composerState.mode,
          model: composerState.model,
          attachments,
          toolReferences: [
            ...new Set([...composerState.tools, ...toolsIn(message)])
          ],
          activeNotebook: work?.notebook ?? submitted.activeNotebook,
          clientId: this._connection.clientId,
          location: 'panel',
          decided: [...decided],
          planFirst: composerState.planFirst,
          // The user's own click is what lets it act: the server carries it out in Agent mode.
          workflow: work?.workflow,
          action: work?.action,
          intent: work?.intent,
          compare: work?.compare && [...work.compare]
        }
      });
      this._panel.ops.add(opId);
      this.sending.accepted(sending, opId);
      this.decided.said(sessionId, decided);
      if (this._panel.sessions.isShown(shown)) {
        this._sent(composerState, typed);
      }
      return true;
    } catch (error) {
      this.sending.remove(sending);
      this._sendFailed(error, shown);
      return false;
    }
  }

  /** What the next message would send with it, as things are now. */
  context(): Promise<ContextReply> {
    const { mode, model, attachments, tools } =
      this._panel.composerState.current;
    return this._panel.client.context({
      sessionId: this._panel.sessions.shown.current.sessionId ?? undefined,
      mode,
      model,
      attachments,
      toolReferences: tools,
      activeNotebook: this._panel.editor.activeDocument,
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

  /** What stays chosen for the next message, and what was not understood of this one. */
  private _sent({ tools }: IComposerState, typed: ITyped): void {
    const { composerState, notice } = this._panel;
    if (typed.attachments.length) {
      composerState.attach(...typed.attachments);
    }
    // A tool was meant for this message; what is attached stays for the next ones.
    composerState.patch({
      tools: composerState.current.tools.filter(name => !tools.includes(name))
    });
    if (typed.nothing.length) {
      const message = `Not attached: ${typed.nothing.join(', ')}.`;
      notice.set({ level: 'info', message });
    }
  }

  /**
   * Whether there is an answer without a model: of a service, of what the user chose, or of a
   * proposal that the message may change.
   */
  private async _needsNoModel(
    message: string,
    store: ConversationStore,
    work?: IWork
  ): Promise<boolean> {
    if (work?.workflow || work?.action || work?.intent?.service) {
      return true;
    }
    if (work?.intent) {
      return false;
    }
    if (commandIn(message) || store.hasOpenProposal) {
      return true;
    }
    const intent = await this._panel.client
      .intent({ message })
      .catch(() => null);
    return !!intent?.service;
  }

  /** No session and no turn is made of a message that nobody could answer. */
  private _needModel(isByClick: boolean): void {
    const { model } = this._panel.composerState.current;
    const why = this._panel.readinessOf(model).other
      ? 'the selected model is not available'
      : 'no model is connected';
    this._panel.notice.set({
      level: 'error',
      message: isByClick
        ? `Not sent: ${why}.`
        : `Not sent: ${why}. Your message is still in the input.`,
      needs: 'model'
    });
    // One may have been connected meanwhile.
    void this._panel.refreshModels();
  }

  private _sendFailed(error: unknown, shown: IShown): void {
    const isHere = shown.sessionId && this._panel.sessions.isShown(shown);
    if (!isGone(error) || !isHere) {
      this._panel.reportError(error);
      return;
    }
    this._panel.sessions.startNew();
    this._panel.notice.set({
      level: 'error',
      message:
        'Not sent: this session was deleted. Send again to start a new one.'
    });
  }
}
