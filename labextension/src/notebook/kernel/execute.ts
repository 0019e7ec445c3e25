import { CodeCell, ICodeCellModel } from '@jupyterlab/cells';
import {
  INotebookCellExecutor,
  NotebookActions,
  NotebookPanel,
  runCell
} from '@jupyterlab/notebook';
import { JSONObject, PromiseDelegate } from '@lumino/coreutils';
import { ISignal, Signal } from '@lumino/signaling';

import { ShownDocuments } from '../shownDocuments';
import { withdrawTrust } from '../trust';
import { markOutputsOf } from './agentMessages';
import { asAgent } from './agentRuns';
import { IOutcome } from './outcome';
import { sparingQueue } from './queue';
import { RunObserver } from './runObserver';

/** How long code that was interrupted gets to stop, in ms. */
const INTERRUPT_MS = 10_000;

/** How long an execution may outlive its kernel, in ms. */
const LOST_MS = 1_000;

/** What the execution of a cell is given. */
export interface IExecuteOptions {
  panel: NotebookPanel;
  cell: CodeCell;
  watch: RunObserver;
  /** Runs the cell; JupyterLab's own way where there is none. */
  executor: INotebookCellExecutor | null;
  /** The time that the cell has, from its start in the kernel, in ms. */
  timeoutMs: number;
  /** Where the user lets all that the agent made be shown. */
  shown: Pick<ShownDocuments, 'has'>;
  /** What goes with the request to the kernel. */
  metadata: JSONObject;
  /** The only source that may be sent to the kernel; null for whatever the cell has then. */
  source: string | null;
  /** Fulfilled when the cell is not wanted any more. */
  stopped: Promise<void>;
  onStarted: () => void;
  /** Called when the cell asks the user for input, and when it goes on. */
  onInput: (isWaiting: boolean) => void;
}

/**
 * Have a cell executed in the page's session, and see it to its end: its own, or an interrupt when
 * its time is over or it is not wanted any more, or the end of its kernel. The kernel is
 * interrupted only while it runs this cell.
 */
export async function execute(options: IExecuteOptions): Promise<IOutcome> {
  const { panel, watch, timeoutMs } = options;
  const outcome: IOutcome = {
    interrupted: null,
    ended: false,
    executorResult: null
  };
  const executed = send(options, outcome).then(() => {
    outcome.ended = true;
  });
  const lost = watch.lost.then(() => Promise.race([executed, sleep(LOST_MS)]));
  const clock = new Clock(timeoutMs);
  const { session } = panel.sessionContext;
  // The user's time is not the cell's.
  const onInput = (_: unknown, isWaiting: boolean) => {
    if (isWaiting) {
      clock.stop();
    } else {
      clock.go();
    }
    options.onInput(isWaiting);
  };
  const onAsking = (_: unknown, isAsking: boolean) =>
    isAsking ? clock.stop() : clock.go();
  const late = watch.started.then(() => {
    options.onStarted();
    clock.go();
    watch.asking.connect(onAsking);
    session?.pendingInput.connect(onInput);
    if (panel.sessionContext.pendingInput) {
      // The question comes by another channel than the news of the start, and may overtake it.
      onInput(null, true);
    }
    return clock.over;
  });
  const stopped = Promise.all([options.stopped, watch.started]).then(
    () => 'stopped' as const
  );
  const first = await Promise.race([executed, lost, late, stopped]);
  clock.stop();
  session?.pendingInput.disconnect(onInput);
  watch.asking.disconnect(onAsking);
  if (first && !outcome.ended) {
    outcome.interrupted = first;
    await panel.sessionContext.session?.kernel?.interrupt();
    await Promise.race([executed, lost, sleep(INTERRUPT_MS)]);
  }
  outcome.reply = watch.reply;
  return outcome;
}

/** Counts down the time of a cell, while it goes, wherever the clock of the day jumps meanwhile. */
class Clock {
  constructor(private _leftMs: number) {}

  /** Fulfilled when the time is over. */
  get over(): Promise<'timeout'> {
    return this._over.promise;
  }

  go(): void {
    if (this._timer === undefined) {
      this._since = performance.now();
      const end = () => this._over.resolve('timeout');
      this._timer = window.setTimeout(end, this._leftMs);
    }
  }

  stop(): void {
    if (this._timer !== undefined) {
      window.clearTimeout(this._timer);
      this._timer = undefined;
      this._leftMs -= performance.now() - this._since;
    }
  }

  private readonly _over = new PromiseDelegate<'timeout'>();
  private _timer: number | undefined;
  private _since = 0;
}

/** Fulfilled when the executor is done with the cell, however that ended. */
async function send(
  { panel, cell, executor, metadata, source, shown }: IExecuteOptions,
  outcome: IOutcome
): Promise<void> {
  const { content: notebook, sessionContext } = panel;
  const run = executor?.runCell.bind(executor) ?? runCell;
  try {
    await asAgent([cell], () =>
      run({
        cell,
        notebook: notebook.model!,
        notebookConfig: notebook.notebookConfig,
        sessionContext: sparingQueue(
          sessionContext,
          metadata,
          source,
          (kernel, msgId) =>
            markOutputsOf(kernel, msgId, {
              path: () => panel.context.path,
              onActive: () => distrust(cell.model, panel, shown)
            })
        ),
        onCellExecutionScheduled: args =>
          announce(NotebookActions.executionScheduled, { notebook, ...args }),
        onCellExecuted: args => {
          outcome.executorResult = args;
          announce(NotebookActions.executed, { notebook, ...args });
        }
      })
    );
  } catch (error) {
    // The error of a cell that failed was reported to `onCellExecuted`; any other was not.
    if (!outcome.executorResult) {
      console.debug('datalayer-agent: the cell was not executed', error);
    }
  }
}

/** JupyterLab trusts the outputs of every run in the page; those of the agent's the user does not. */
function distrust(
  model: ICodeCellModel,
  { context }: NotebookPanel,
  shown: Pick<ShownDocuments, 'has'>
): void {
  if (!model.isDisposed && !shown.has(context.path)) {
    withdrawTrust(model);
  }
}

/**
 * Notify other extensions, which show execution times and the like. JupyterLab itself does so only
 * for its own commands.
 */
function announce<T>(signal: ISignal<unknown, T>, args: T): void {
  if (signal instanceof Signal) {
    signal.emit(args);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise(resolve => window.setTimeout(resolve, ms));
}
