import { Kernel, KernelMessage } from '@jupyterlab/services';

import { agentRequestOf } from '../notebook/kernel/agentMessages';
import { ShownDocuments } from '../notebook/shownDocuments';

type OnOpen = Parameters<Kernel.IKernelConnection['registerCommTarget']>[1];
type OnMessage = Kernel.IComm['onMsg'];
type Handle = () => void | PromiseLike<void>;

/**
 * Hold back the messages by which code of the agent's would make widgets in the page, or change those
 * of the user, until the user has its document shown; then they are handled in their order.
 */
export function holdComms(
  kernels: Pick<Kernel.IManager, 'connectTo'>,
  shown: ShownDocuments
): void {
  const connectTo = kernels.connectTo.bind(kernels);
  // Each connection is made here, before anyone can register for its comms.
  kernels.connectTo = options => {
    const kernel = connectTo(options);
    new CommGate(kernel, shown).install();
    return kernel;
  };
}

class CommGate {
  constructor(
    private readonly _kernel: Kernel.IKernelConnection,
    private readonly _shown: ShownDocuments
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
        return this._pass(msg, () => onOpen(comm, msg));
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
    const gate: OnMessage = msg => this._pass(msg, () => handler?.(msg));
    Object.defineProperty(comm, 'onMsg', {
      configurable: true,
      get: () => gate,
      set: (value: OnMessage) => {
        handler = value;
      }
    });
  }

  private _pass(
    msg: KernelMessage.IMessage,
    handle: Handle
  ): ReturnType<Handle> {
    const request = agentRequestOf(this._kernel, msg);
    if (!request || this._shown.has(request.path())) {
      return handle();
    }
    this._held.push({ path: request.path, handle });
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
  }

  private readonly _held: { path: () => string; handle: Handle }[] = [];
}
