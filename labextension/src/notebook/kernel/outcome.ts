import { INotebookCellExecutor } from '@jupyterlab/notebook';
import { KernelMessage } from '@jupyterlab/services';

import { CellRun, CellRunError } from '../../api';

/** How the executor reports that a cell ended. */
export type ExecutorResult = Parameters<
  INotebookCellExecutor.IRunCellOptions['onCellExecuted']
>[0];

/** All that is known of the end of a cell's execution. */
export interface IOutcome {
  /** Why it was interrupted, if it was. */
  interrupted: 'timeout' | 'stopped' | null;
  /** Whether the execution is over. */
  ended: boolean;
  /** The kernel's answer, if it came. */
  reply?: KernelMessage.IExecuteReplyMsg['content'];
  /** What the executor said, if it did. */
  executorResult: ExecutorResult | null;
}

/** The parts of a `CellRun` that say how the cell ended. */
export type RunStatus = Pick<CellRun, 'status' | 'error' | 'note'>;

/** As nbclient names it. */
export const DEAD_KERNEL = 'DeadKernelError';

const STILL_RUNNING =
  'The code did not stop when it was interrupted, and is still running. Restart the kernel to end it.';

/** How a cell's execution ended, by what the kernel said of it before all else. */
export function runStatus(outcome: IOutcome, timeoutMs: number): RunStatus {
  const { interrupted, ended, reply, executorResult: verdict } = outcome;
  if (interrupted && !ended) {
    const status = interrupted === 'timeout' ? 'timeout' : 'aborted';
    return { status, note: STILL_RUNNING };
  }
  if (reply?.status === 'ok') {
    return { status: 'ok' };
  }
  const error = errorOf(outcome);
  if (interrupted === 'timeout') {
    const note = `The cell was interrupted after ${timeoutMs / 1000} s.`;
    return { status: 'timeout', error, note };
  }
  if (interrupted === 'stopped') {
    return { status: 'aborted', error, note: 'The cell was interrupted.' };
  }
  if (reply?.status === 'error') {
    return { status: 'error', error };
  }
  if (reply) {
    const note = 'The kernel did not run the cell, since one before it failed.';
    return { status: 'aborted', note };
  }
  if (verdict) {
    // The executor has its own way to the kernel.
    return { status: verdict.success ? 'ok' : 'error', error };
  }
  return deadKernel('The kernel died or was restarted while the cell ran.');
}

/** The status of a cell whose kernel is gone. */
export function deadKernel(message: string): RunStatus {
  const error = { ename: DEAD_KERNEL, evalue: message, traceback: [] };
  return { status: 'error', error };
}

/** The exception that a cell ended with, as the kernel or the executor reported it. */
function errorOf({
  reply,
  executorResult: verdict
}: IOutcome): CellRunError | undefined {
  if (reply?.status === 'error') {
    const { ename, evalue, traceback } = reply;
    return { ename, evalue, traceback };
  }
  const error = verdict?.error;
  return error
    ? {
        ename: error.errorName ?? error.name,
        evalue: error.errorValue ?? error.message,
        traceback: error.traceback ?? []
      }
    : undefined;
}
