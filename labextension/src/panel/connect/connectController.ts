import { messageOf } from '../../api/errors';
import { IPanelClient } from '../../api/services';
import {
  ConnectionsReply,
  ConnectionTestReply,
  ConnectionTestRequest,
  ConnectRequest,
  FoundServer
} from '../../api/types';
import { Observable } from '../../session/observable';
import { ComposerState } from '../composer/composerState';
import { Models } from '../composer/models';

/** What the panel knows of connections. It never holds a key. */
export interface IConnecting {
  reply: ConnectionsReply | null;
  problem?: string;
  /** The model servers of this computer; null until it was looked for them. */
  servers: readonly FoundServer[] | null;
  isLooking: boolean;
  /** What was connected last. */
  done?: string;
}

/** Connecting models. Keys pass through to the server, and are not kept. */
export class ConnectController {
  constructor(
    private readonly _client: Pick<
      IPanelClient,
      | 'connections'
      | 'lookForServers'
      | 'testConnection'
      | 'connectModel'
      | 'forgetConnection'
    >,
    private readonly _models: Models,
    private readonly _composerState: ComposerState
  ) {}

  readonly shown = new Observable<IConnecting>({
    reply: null,
    servers: null,
    isLooking: false
  });

  /** Ask what is connected; while no model is, also which servers there are. */
  async open(): Promise<void> {
    this._patch({ problem: undefined, done: undefined });
    await Promise.all([this._load(), this.lookOnce()]);
  }

  /** Look for model servers if that was not done yet; the server looks only where no model is ready. */
  async lookOnce(): Promise<void> {
    if (!this.shown.current.servers && !this.shown.current.isLooking) {
      await this._look(false);
    }
  }

  /** The user wants to look again. */
  lookAgain(): Promise<void> {
    return this._look(true);
  }

  /** Try it without saving anything. */
  async test(request: ConnectionTestRequest): Promise<ConnectionTestReply> {
    try {
      return await this._client.testConnection(request);
    } catch (error) {
      return { ok: false, message: messageOf(error) };
    }
  }

  /** Save a connection and use its model; a problem in a sentence, or null. */
  async connect(request: ConnectRequest): Promise<string | null> {
    try {
      const reply = await this._client.connectModel(request);
      await this._models.refresh();
      const chosen = this._models.current?.default;
      // Without a choice of its own, a session follows the default.
      if (chosen && this._composerState.current.model) {
        this._composerState.choose({ model: chosen });
      }
      const label = this._models.current?.models.find(
        ({ id }) => id === chosen
      )?.label;
      this._patch({ reply, done: `${label ?? chosen} is connected.` });
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Remove a connection and its key. */
  async forget(id: string): Promise<void> {
    try {
      const reply = await this._client.forgetConnection(id);
      this._patch({ reply, problem: undefined, done: undefined });
      await this._models.refresh();
    } catch (error) {
      this._patch({ problem: messageOf(error) });
    }
  }

  private async _load(): Promise<void> {
    try {
      const reply = await this._client.connections();
      this._patch({ reply, problem: undefined });
    } catch (error) {
      this._patch({ problem: messageOf(error) });
    }
  }

  private async _look(again: boolean): Promise<void> {
    this._patch({ isLooking: true });
    try {
      const { looked, servers } = await this._client.lookForServers(again);
      this._patch({ servers: looked ? servers : this.shown.current.servers });
    } catch (error) {
      this._patch({ problem: messageOf(error) });
    } finally {
      this._patch({ isLooking: false });
    }
  }

  private _patch(changes: Partial<IConnecting>): void {
    this.shown.set({ ...this.shown.current, ...changes });
  }
}
