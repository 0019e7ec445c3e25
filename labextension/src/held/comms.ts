import { Kernel, KernelMessage, ServiceManager } from '@jupyterlab/services';

import {
  agentRequestOf,
  markOutputsOf
} from '../notebook/kernel/agentMessages';
import { ShownDocuments } from '../notebook/shownDocuments';
import { AgentComms } from './agentComms';
import {
  isHarmless,
  isHarmlessMessage,
  isPlainModel,
  modelsIn
} from './harmless';

type OnOpen = Parameters<Kernel.IKernelConnection['registerCommTarget']>[1];
type OnMessage = Kernel.IComm['onMsg'];
type Handle = () => void | PromiseLike<void>;

/** What widgets say over a comm, and what the kernel says of all of them after a reload. */
interface IWidgetData {
  state?: unknown;
  states?: Record<string, { state?: unknown }>;
}

/**
 * Hold back the messages by which code of the agent's would have widgets act in the page, or change
 * those of the user so that they do, until the user has its document shown; then they are handled in
 * their order. What a widget of the agent's does when the user uses it is the agent's, too.
 *
 * Another page, or the server, may have run the agent's code: what this page then knows of its widgets
 * is that the agent's outputs in a document show them. `viewsIn` has their ids.
 */
export function holdComms(
  { kernels, sessions }: Pick<ServiceManager.IManager, 'kernels' | 'sessions'>,
  shown: ShownDocuments,
  comms: AgentComms,
  viewsIn: (path: string) => Iterable<string>
): void {
  const pathOf = (kernelId: string) =>
    [...sessions.running()].find(({ kernel }) => kernel?.id === kernelId)
      ?.path ?? '';
  const connectTo = kernels.connectTo.bind(kernels);
  // Each connection is made here, before anyone can register for its comms.
  kernels.connectTo = options => {
    const kernel = connectTo(options);
    const path = () => pathOf(kernel.id);
    new CommGate(kernel, shown, comms, path, viewsIn).install();
    return kernel;
  };
}

class CommGate {
  constructor(
    private readonly _kernel: Kernel.IKernelConnection,
    private readonly _shown: ShownDocuments,
    private readonly _comms: AgentComms,
    private readonly _path: () => string,
    private readonly _viewsIn: (path: string) => Iterable<string>
  ) {}

  install(): void {
    const kernel = this._kernel;
    const register = kernel.registerCommTarget.bind(kernel);
    const remove = kernel.removeCommTarget.bind(kernel);
    const create = kernel.createComm.bind(kernel);
    const gated = new Map<OnOpen, OnOpen>();
    kernel.registerCommTarget = (name, onOpen) => {
      const gate: OnOpen = (comm, msg) => {
        this._guard(comm);
        return this._pass(comm.commId, msg, () => onOpen(comm, msg));
      };
      gated.set(onOpen, gate);
      register(name, gate);
    };
    kernel.removeCommTarget = (name, onOpen) =>
      remove(name, gated.get(onOpen) ?? onOpen);
    kernel.createComm = (name, id) => {
      const comm = create(name, id);
      this._guard(comm);
      return comm;
    };
    const end = this._shown.beforeShown(path => this._release(path));
    kernel.disposed.connect(() => {
      this._held.length = 0;
      end();
    });
  }

  /** Have what the kernel sends over a comm go through here, whoever handles it. */
  private _guard(comm: Kernel.IComm): void {
    let handler: OnMessage = comm.onMsg;
    const gate: OnMessage = msg =>
      this._pass(comm.commId, msg, () => handler?.(msg));
    Object.defineProperty(comm, 'onMsg', {
      configurable: true,
      get: () => gate,
      set: (value: OnMessage) => {
        handler = value;
      }
    });
    const send = comm.send.bind(comm);
    comm.send = (...args) => {
      const future = send(...args);
      if (this._comms.isAgents(this._kernel.id, comm.commId)) {
        markOutputsOf(this._kernel, future.msg.header.msg_id, {
          path: this._path,
          onActive: () => undefined
        });
      }
      return future;
    };
  }

  private _pass(
    commId: string,
    msg: KernelMessage.IMessage,
    handle: Handle
  ): ReturnType<Handle> {
    const kernelId = this._kernel.id;
    const request = agentRequestOf(this._kernel, msg);
    const path = request?.path ?? this._path;
    const isOpening = KernelMessage.isCommOpenMsg(msg);
    const { state, states = {} } = (msg.content as { data: IWidgetData }).data;
    if (isOpening && isPlainModel(state)) {
      this._plain.add(commId);
    }
    for (const [id, each] of Object.entries(states)) {
      if (isPlainModel(each.state)) {
        this._plain.add(id);
      }
    }
    if (!request) {
      this._learn(state ? { [commId]: { state }, ...states } : states);
    }
    const waits =
      !this._shown.has(path()) &&
      (request
        ? this._held.length > 0 ||
          !this._plain.has(commId) ||
          !isHarmlessMessage(msg)
        : this._comms.waits(commId) ||
          Object.keys(states).some(id => this._comms.waits(id)));
    if (request && (isOpening || waits)) {
      this._comms.add(kernelId, commId, waits);
    }
    if (!waits) {
      return handle();
    }
    this._held.push({ path, handle });
  }

  /** Know the widgets of the agent's again, and those within them, by what the kernel says of all. */
  private _learn(states: NonNullable<IWidgetData['states']>): void {
    const seen = new Set<string>();
    const next = Object.keys(states).length
      ? [...this._viewsIn(this._path())]
      : [];
    for (let id = next.pop(); id !== undefined; id = next.pop()) {
      const each = states[id];
      if (!each || seen.has(id)) {
        continue;
      }
      seen.add(id);
      next.push(...modelsIn(each.state));
      if (!this._comms.isAgents(this._kernel.id, id)) {
        const isPlain = isPlainModel(each.state) && isHarmless(each.state);
        this._comms.add(this._kernel.id, id, !isPlain);
      }
    }
  }

  /** Those that come meanwhile are held, too, so that all are handled in their order. */
  private async _release(path: string): Promise<void> {
    const next = () => this._held.findIndex(held => held.path() === path);
    for (let at = next(); at >= 0; at = next()) {
      const [{ handle }] = this._held.splice(at, 1);
      try {
        await handle();
      } catch (error) {
        console.error('datalayer-agent: a widget could not be shown', error);
      }
    }
    if (this._path() === path) {
      this._comms.release(this._kernel.id);
    }
  }

  private readonly _held: { path: () => string; handle: Handle }[] = [];
  /** The comms of widgets whose views run nothing of their author's. */
  private readonly _plain = new Set<string>();
}
