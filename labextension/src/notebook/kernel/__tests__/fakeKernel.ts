import { ISessionContext } from '@jupyterlab/apputils';
import { CodeCell } from '@jupyterlab/cells';
import { INotebookCellExecutor, NotebookPanel } from '@jupyterlab/notebook';
import { Kernel, KernelMessage } from '@jupyterlab/services';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

type Reply = KernelMessage.IExecuteReplyMsg['content'];

/** An answer of the kernel to a cell that ran. */
export const OK: Partial<Reply> = { status: 'ok' };

/** An answer of the kernel to a cell that raised. */
export function raised(ename: string): Partial<Reply> {
  return { status: 'error', ename, evalue: 'why', traceback: ['at'] };
}

/**
 * A session context whose kernel says what a test sets, and an executor that sends
 * cells to it.
 */
export class FakeKernel implements INotebookCellExecutor {
  readonly sessionChanged = new Signal<this, unknown>(this);
  readonly kernelChanged = new Signal<this, unknown>(this);
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly iopubMessage = new Signal<this, KernelMessage.IMessage>(this);
  readonly isReady = true;
  readonly ready = Promise.resolve();
  interrupts = 0;
  /** What was sent by `requestExecute`. */
  readonly requests: object[] = [];

  readonly session = {
    anyMessage: new Signal<object, Kernel.IAnyMessageArgs>(this),
    pendingInput: new Signal<object, boolean>(this),
    kernel: {
      id: 'k',
      name: 'python3',
      status: 'idle' as Kernel.Status,
      anyMessage: new Signal<object, Kernel.IAnyMessageArgs>(this),
      requestExecute: (content: object) => {
        this.requests.push(content);
        return { msg: { header: { msg_id: `m${this.requests.length}` } } };
      },
      interrupt: async () => {
        this.interrupts += 1;
        this.onInterrupt();
      }
    }
  };

  /** What an interrupt does. */
  onInterrupt = (): void => undefined;

  /** As the panel's own. */
  useIn(panel: NotebookPanel): void {
    Object.defineProperty(panel, 'sessionContext', { value: this.context });
  }

  get context(): ISessionContext {
    return this as unknown as ISessionContext;
  }

  setStatus(status: Kernel.Status): void {
    this.session.kernel.status = status;
    this.statusChanged.emit(status);
  }

  /** The page sends a cell. */
  send(cellId: string): string {
    const id = `m${(this._count += 1)}`;
    this._emit('send', 'execute_request', id, {}, { cellId });
    return id;
  }

  start(request: string, count: number, at = 0): void {
    this.setStatus('busy');
    const content = { execution_count: count, code: '' };
    this._emit('recv', 'execute_input', request, content, {}, at);
  }

  reply(request: string, content: Partial<Reply>, at = 0): void {
    this._emit('recv', 'execute_reply', request, content, {}, at);
  }

  idle(request: string): void {
    this.setStatus('idle');
    const content = { execution_state: 'idle' };
    this._emit('recv', 'status', request, content, {});
  }

  /** The code of a run asks whether it may act, or has its answer. */
  ask(request: string, done: boolean): void {
    this._emit('recv', 'datalayer_agent_act', request, { done }, {});
  }

  /** A whole run. */
  finish(request: string, content: Partial<Reply>): void {
    this.reply(request, content);
    this.idle(request);
    this._sent.get(request)?.resolve(content);
  }

  /** Cells that the executor was given, by request. */
  readonly executed: {
    cellId: string;
    request: string;
    sessionContext: ISessionContext | undefined;
  }[] = [];

  async runCell(
    options: INotebookCellExecutor.IRunCellOptions
  ): Promise<boolean> {
    const cell = options.cell as CodeCell;
    const cellId = cell.model.id;
    options.onCellExecutionScheduled({ cell });
    const request = this.send(cellId);
    const answer = new PromiseDelegate<Partial<Reply>>();
    this._sent.set(request, answer);
    const { sessionContext } = options;
    this.executed.push({ cellId, request, sessionContext });
    const { status } = await answer.promise;
    options.onCellExecuted({ cell, success: status === 'ok' });
    return status === 'ok';
  }

  private _emit(
    direction: 'send' | 'recv',
    type: string,
    request: string,
    content: object,
    metadata: object,
    at = 0
  ): void {
    const date = new Date(1_000_000 + at).toISOString();
    const isSend = direction === 'send';
    const msg = {
      channel: type === 'execute_reply' || isSend ? 'shell' : 'iopub',
      header: { msg_id: isSend ? request : 'x', msg_type: type, date },
      parent_header: isSend ? {} : { msg_id: request },
      metadata,
      content
    } as unknown as KernelMessage.IMessage;
    this.session.anyMessage.emit({ msg, direction });
    if (msg.channel === 'iopub') {
      this.iopubMessage.emit(msg);
    }
  }

  private _count = 0;
  private readonly _sent = new Map<string, PromiseDelegate<Partial<Reply>>>();
}
