import { ISessionContext } from '@jupyterlab/apputils';
import { KernelMessage } from '@jupyterlab/services';
import { PromiseDelegate } from '@lumino/coreutils';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { ExecutionTracker, IExecutionChange } from './executions';

/** What the kernel publishes when code asks before it acts beyond the kernel. */
const ASKS = 'datalayer_agent_act';

/** Follows one run of one cell, from before it is sent to the kernel. */
export class RunObserver implements IDisposable {
  constructor(
    private readonly _executions: ExecutionTracker,
    private readonly _context: ISessionContext,
    private readonly _cellId: string,
    private readonly _source: string
  ) {
    _executions.changed.connect(this._onChanged, this);
    _context.iopubMessage.connect(this._onIOPub, this);
  }

  /** Fulfilled when the kernel begins this request. */
  get started(): Promise<void> {
    return this._started.promise;
  }

  /** Fulfilled when the kernel that was to run the cell is gone. */
  get lost(): Promise<void> {
    return this._lost.promise;
  }

  /** The request that runs the cell, once it is known. */
  get msgId(): string | undefined {
    return this._msgId;
  }

  /** The kernel's answer, once it came. */
  get reply(): KernelMessage.IExecuteReplyMsg['content'] | undefined {
    return this._reply;
  }

  /** Emits when the code asks whether it may do something and waits, and when it goes on. */
  get asking(): ISignal<this, boolean> {
    return this._asking;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._executions.changed.disconnect(this._onChanged, this);
    this._context.iopubMessage.disconnect(this._onIOPub, this);
  }

  private _onChanged(_: ExecutionTracker, change: IExecutionChange): void {
    if (change.context !== this._context) {
      return;
    }
    if (change.kind === 'cleared') {
      this._lost.resolve();
    } else if (change.cellId === this._cellId) {
      switch (change.kind) {
        case 'sent':
          this._isSent = true;
          this._msgId = change.msgId;
          break;
        case 'started':
          this._started.resolve();
          break;
        case 'finished':
          this._reply = change.reply;
          break;
        case 'scheduled':
          break;
        default:
          change.kind satisfies never;
      }
    }
  }

  /**
   * A cell executor may send the code by a way of its own, over which nothing is seen here: then
   * the kernel reports the same code.
   */
  private _onIOPub(_: ISessionContext, msg: KernelMessage.IMessage): void {
    if ((msg.header.msg_type as string) === ASKS) {
      const { msg_id } = msg.parent_header as KernelMessage.IHeader;
      if (msg_id === this._msgId) {
        this._asking.emit(!(msg.content as { done?: boolean }).done);
      }
      return;
    }
    if (
      !this._isSent &&
      msg.header.msg_type === 'execute_input' &&
      (msg as KernelMessage.IExecuteInputMsg).content.code === this._source
    ) {
      this._msgId = (
        msg as KernelMessage.IExecuteInputMsg
      ).parent_header.msg_id;
      this._started.resolve();
    }
  }

  private readonly _started = new PromiseDelegate<void>();
  private readonly _asking = new Signal<this, boolean>(this);
  private readonly _lost = new PromiseDelegate<void>();
  private _isSent = false;
  private _msgId: string | undefined;
  private _isDisposed = false;
  private _reply: KernelMessage.IExecuteReplyMsg['content'] | undefined;
}
