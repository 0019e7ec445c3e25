import { ISessionContext } from '@jupyterlab/apputils';
import {
  INotebookModel,
  INotebookTracker,
  NotebookPanel
} from '@jupyterlab/notebook';
import { Kernel, KernelMessage, Session } from '@jupyterlab/services';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import { ExecutionStatus } from '../../api';
import { forEachNotebook } from '../forEachNotebook';

/** What a kernel itself says of its status; the others are the server's word, or a guess. */
const HEARD: readonly Kernel.Status[] = ['starting', 'idle', 'busy'];

/** What is known of a cell's runs in the kernel that it has now. */
export interface ICellExecution {
  status: ExecutionStatus;
  /** `In [n]` of the newest run that began. */
  order?: number;
  /** How the newest run that ended did. */
  success?: boolean;
  /** Its duration in ms, by the kernel's clock. */
  durationMs?: number;
  /** Its end, in ms since 1970. */
  endTime?: number;
}

/** Something happened to the run of a cell. */
export interface IExecutionChange {
  readonly context: ISessionContext;
  /** Null: all that was known of this kernel's runs is void. */
  readonly cellId: string | null;
  readonly kind: 'scheduled' | 'sent' | 'started' | 'finished' | 'cleared';
  /** With `sent`: the id of the request. */
  readonly msgId?: string;
  /** With `finished`: the kernel's answer. */
  readonly reply?: KernelMessage.IExecuteReplyMsg['content'];
}

/** A request that was sent to the kernel. */
interface IRequest {
  readonly cellId: string;
  startedAt?: number;
  /** The answer, while the news of the start is still to come. */
  reply?: KernelMessage.IExecuteReplyMsg;
}

/** The runs of one notebook's kernel session. */
class SessionExecutions {
  readonly cells = new Map<string, ICellExecution>();
  readonly requests = new Map<string, IRequest>();
  session: Session.ISessionConnection | null = null;
  /** Whether the kernel came back by itself, and nothing was heard of it since. */
  isBackUnheard = false;

  cell(cellId: string): ICellExecution {
    let cell = this.cells.get(cellId);
    if (!cell) {
      cell = { status: 'idle' };
      this.cells.set(cellId, cell);
    }
    return cell;
  }
}

/**
 * Follows which cells run, wait and ended, in every open notebook, from the messages to and from
 * its kernel: whoever in this page started them.
 *
 * JupyterLab's own signals tell neither a pending cell from a running one nor any times.
 */
export class ExecutionTracker implements IDisposable {
  constructor(tracker: INotebookTracker) {
    forEachNotebook(tracker, panel => this._follow(panel), this);
  }

  get changed(): ISignal<this, IExecutionChange> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      Signal.clearData(this);
    }
  }

  /** What is known of a cell's runs; undefined if nothing. */
  get(context: ISessionContext, cellId: string): ICellExecution | undefined {
    return this._sessions.get(context)?.cells.get(cellId);
  }

  /** The ids of the cells with this status. */
  withStatus(context: ISessionContext, status: ExecutionStatus): string[] {
    const cells = this._sessions.get(context)?.cells ?? new Map();
    return Array.from(cells)
      .filter(([, cell]) => cell.status === status)
      .map(([id]) => id);
  }

  /** Whether the kernel was sent cells that it has not answered. */
  hasRequests(context: ISessionContext): boolean {
    return (this._sessions.get(context)?.requests.size ?? 0) > 0;
  }

  /** Whether the kernel died and came back, and nothing was heard of it since. */
  isBackUnheard(context: ISessionContext): boolean {
    return this._sessions.get(context)?.isBackUnheard ?? false;
  }

  /** A cell waits to be sent to the kernel. */
  schedule(context: ISessionContext, cellId: string): void {
    const cell = this._sessions.get(context)?.cell(cellId);
    if (cell?.status === 'idle') {
      cell.status = 'pending';
      this._changed.emit({ context, cellId, kind: 'scheduled' });
    }
  }

  /** A cell that waited will not be sent. */
  unschedule(context: ISessionContext, cellId: string): void {
    const session = this._sessions.get(context);
    const cell = session?.cells.get(cellId);
    const sent = Array.from(session?.requests.values() ?? []).some(
      request => request.cellId === cellId
    );
    if (cell?.status === 'pending' && !sent) {
      cell.status = 'idle';
      this._changed.emit({ context, cellId, kind: 'finished' });
    }
  }

  private _follow(panel: NotebookPanel): void {
    const context = panel.sessionContext;
    if (this._sessions.has(context)) {
      // Another view of a notebook that is followed already.
      return;
    }
    this._sessions.set(context, new SessionExecutions());
    context.sessionChanged.connect(this._onSessionChanged, this);
    context.kernelChanged.connect(this._clear, this);
    context.statusChanged.connect(this._onStatusChanged, this);
    this._onSessionChanged(context);
    // The document's own, which it keeps when this view of it is closed and another one stays.
    const { model } = panel;
    model?.cells.changed.connect((_, { type }) => {
      if (type === 'remove') {
        this._forgetDeleted(context, model);
      }
    });
  }

  private _onSessionChanged(context: ISessionContext): void {
    const executions = this._sessions.get(context)!;
    if (executions.session !== context.session) {
      executions.session = context.session;
      context.session?.anyMessage.connect((_, args) =>
        this._onMessage(context, args)
      );
      this._clear(context);
    }
  }

  private _onStatusChanged(
    context: ISessionContext,
    status: Kernel.Status
  ): void {
    const GONE = ['restarting', 'autorestarting', 'dead', 'terminating'];
    if (status === 'autorestarting') {
      this._sessions.get(context)!.isBackUnheard = true;
    } else if (HEARD.includes(status)) {
      this._sessions.get(context)!.isBackUnheard = false;
    }
    if (GONE.includes(status)) {
      this._clear(context);
    }
  }

  private _clear(context: ISessionContext): void {
    const executions = this._sessions.get(context)!;
    if (executions.cells.size) {
      executions.cells.clear();
      executions.requests.clear();
      this._changed.emit({ context, cellId: null, kind: 'cleared' });
    }
  }

  /** A removed cell's id may come back by an undo; its runs do not. */
  private _forgetDeleted(
    context: ISessionContext,
    model: INotebookModel
  ): void {
    const { cells } = this._sessions.get(context)!;
    if (!cells.size) {
      return;
    }
    const present = new Set(model.sharedModel.cells.map(c => c.getId()));
    for (const id of cells.keys()) {
      if (!present.has(id)) {
        cells.delete(id);
      }
    }
  }

  private _onMessage(
    context: ISessionContext,
    { msg, direction }: Kernel.IAnyMessageArgs
  ): void {
    if (direction === 'send') {
      if (msg.header.msg_type === 'execute_request') {
        this._onRequest(context, msg as KernelMessage.IExecuteRequestMsg);
      }
      return;
    }
    const { requests } = this._sessions.get(context)!;
    const parent = (msg.parent_header as Partial<KernelMessage.IHeader>).msg_id;
    const request = parent === undefined ? undefined : requests.get(parent);
    if (parent === undefined || !request) {
      return;
    }
    if (KernelMessage.isExecuteInputMsg(msg)) {
      this._onInput(context, request, msg);
    } else if (KernelMessage.isExecuteReplyMsg(msg)) {
      request.reply = msg;
    }
    // The answer comes by another channel than the news of the start, and may overtake it.
    const isOver =
      request.startedAt !== undefined ||
      (KernelMessage.isStatusMsg(msg) &&
        msg.content.execution_state === 'idle');
    if (request.reply && isOver) {
      requests.delete(parent);
      this._onReply(context, request, request.reply);
    }
  }

  private _onRequest(
    context: ISessionContext,
    msg: KernelMessage.IExecuteRequestMsg
  ): void {
    const { cellId } = msg.metadata;
    if (typeof cellId !== 'string') {
      return;
    }
    const executions = this._sessions.get(context)!;
    const msgId = msg.header.msg_id;
    executions.requests.set(msgId, { cellId });
    executions.cell(cellId).status = 'pending';
    this._changed.emit({ context, cellId, kind: 'sent', msgId });
  }

  private _onInput(
    context: ISessionContext,
    request: IRequest,
    msg: KernelMessage.IExecuteInputMsg
  ): void {
    const { cellId } = request;
    const cell = this._sessions.get(context)!.cell(cellId);
    request.startedAt = timeOf(msg);
    cell.status = 'running';
    cell.order = msg.content.execution_count ?? undefined;
    this._changed.emit({ context, cellId, kind: 'started' });
  }

  private _onReply(
    context: ISessionContext,
    { cellId, startedAt }: IRequest,
    msg: KernelMessage.IExecuteReplyMsg
  ): void {
    const reply = msg.content;
    const cell = this._sessions.get(context)!.cell(cellId);
    cell.status = 'idle';
    if (reply.status === 'ok' || reply.status === 'error') {
      cell.success = reply.status === 'ok';
      cell.endTime = timeOf(msg);
      cell.durationMs =
        startedAt === undefined ? undefined : cell.endTime - startedAt;
      cell.order = reply.execution_count ?? cell.order;
    }
    this._changed.emit({ context, cellId, kind: 'finished', reply });
  }

  private readonly _sessions = new WeakMap<
    ISessionContext,
    SessionExecutions
  >();
  private readonly _changed = new Signal<this, IExecutionChange>(this);
  private _isDisposed = false;
}

/** When the kernel sent a message, in ms since 1970. */
function timeOf(msg: KernelMessage.IMessage): number {
  const time = Date.parse(msg.header.date);
  return Number.isNaN(time) ? Date.now() : time;
}
