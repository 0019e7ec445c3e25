import { ISessionContext } from '@jupyterlab/apputils';
import { NotebookPanel } from '@jupyterlab/notebook';
import {
  Kernel,
  ServerConnection,
  Session,
  SessionAPI
} from '@jupyterlab/services';
import { PromiseDelegate } from '@lumino/coreutils';

import { KernelParams, OpenNotebook, PageRequestError } from '../../api';
import { answers } from './kernelProbe';
import { ExecutionTracker } from './executions';
import { within } from '../waiting';

/** How long a kernel that starts is waited for, in ms. */
const KERNEL_START_MS = 60_000;

/** How long the status of a kernel that answers is waited for, in ms. */
const STATUS_MS = 2_000;

/** How long an idle kernel may owe a reply, in ms, before that counts as lost on the way. */
const LOST_REPLY_MS = 2_000;

/** Of `unknown` status is a kernel that has not answered yet: see `statusOf`. */
const BUSY: readonly Kernel.Status[] = [
  'unknown',
  'busy',
  'restarting',
  'autorestarting'
];

type KernelState = Pick<
  OpenNotebook,
  'kernelId' | 'kernelName' | 'kernelLanguage' | 'kernelStatus'
>;

/**
 * The kernel of a notebook as it is now; where there is none, the name and the language that the
 * notebook's metadata give.
 */
export function kernelOf(panel: NotebookPanel): KernelState {
  const kernel = panel.sessionContext.session?.kernel;
  const { model } = panel;
  const spec = model?.getMetadata('kernelspec') as
    | { language?: string }
    | undefined;
  return {
    kernelId: kernel?.id,
    kernelName: kernel?.name ?? (model?.defaultKernelName || undefined),
    kernelLanguage: model?.defaultKernelLanguage || spec?.language || undefined,
    kernelStatus: statusOf(panel.sessionContext)
  };
}

/**
 * The status of a notebook's kernel; undefined without one.
 *
 * JupyterLab knows it only from what the kernel says. A page that is loaded while a cell runs
 * hears nothing before the cell's end, and the kernel is busy all the time.
 */
export function statusOf(context: ISessionContext): string | undefined {
  const kernel = context.session?.kernel;
  if (!kernel) {
    // Not by `isReady`: that is false as well once the user has shut the kernel down.
    const isStarting = context.kernelDisplayStatus === 'initializing';
    return isStarting ? 'initializing' : undefined;
  }
  const { status, connectionStatus } = kernel;
  if (status !== 'unknown') {
    return status;
  }
  return connectionStatus === 'connected' ? 'busy' : connectionStatus;
}

/**
 * Wait until a notebook's kernel can be sent code.
 *
 * Throws `kernel_error` where that takes an act of the user or of the model: JupyterLab's own
 * way would be to open a dialog.
 */
export async function kernelReady(context: ISessionContext): Promise<void> {
  if (!context.isReady) {
    await within(KERNEL_START_MS, context.ready, () =>
      kernelError('The kernel has not started. Select another kernel.')
    );
  }
  const kernel = context.session?.kernel;
  if (!kernel) {
    throw kernelError('The notebook has no kernel. Select one first.');
  }
  if (kernel.status === 'dead') {
    throw kernelError('The kernel is dead. Restart it, or select another.');
  }
  if (context.isTerminating) {
    throw kernelError('The kernel is shutting down. Select another kernel.');
  }
  // Of a kernel that died as it waited JupyterLab goes on saying so.
  if (context.pendingInput && kernel.status !== 'idle') {
    throw kernelError(
      'The kernel waits for input in a cell of the notebook. The user must answer it first.'
    );
  }
}

/** Connect a notebook to a running kernel, or to a new one of a name, without a dialog. */
export async function selectKernel(
  panel: NotebookPanel,
  { kernelId, kernelName }: KernelParams
): Promise<void> {
  const context = panel.sessionContext;
  if (kernelId && (await joined(context, kernelId))) {
    return;
  }
  if (kernelId) {
    const model = await context.kernelManager?.findById(kernelId);
    if (!model) {
      throw kernelError(`There is no running kernel ${kernelId}.`);
    }
  } else if (kernelName) {
    await context.specsManager.ready;
    const specs = Object.keys(context.specsManager.specs?.kernelspecs ?? {});
    if (!specs.includes(kernelName)) {
      throw kernelError(
        `There is no kernel named ${kernelName}. There are: ${specs.join(', ')}.`
      );
    }
  } else {
    throw new PageRequestError('invalid', 'Name a kernel, or give its id.');
  }
  const kernel = await change(
    context,
    kernelId ? { id: kernelId } : { name: kernelName }
  );
  if (!kernel) {
    throw kernelError('The notebook has no kernel after the change.');
  }
  await within(KERNEL_START_MS, kernel.info, () =>
    kernelError('The kernel was started but does not answer.')
  );
  await statusKnown(kernel);
}

/** What JupyterLab's session contexts do with the session that they find as a notebook is opened. */
interface ISessionAdopter {
  _handleNewSession?: (session: Session.ISessionConnection) => unknown;
}

/**
 * Whether the notebook is on the kernel, or could be brought to it by connecting to the session
 * that it has on the server.
 *
 * JupyterLab looks for that only when a notebook is opened. Its own way to a kernel would begin
 * another session, so that there were two for one notebook.
 */
async function joined(
  context: ISessionContext,
  kernelId: string
): Promise<boolean> {
  const { sessionManager } = context;
  // The manager's own list is not brought up to date in a tab that is hidden.
  const sessions = await SessionAPI.listRunning(sessionManager.serverSettings);
  const model = sessions.find(
    each => each.path === context.path && each.kernel?.id === kernelId
  );
  const adopter = context as unknown as ISessionAdopter;
  if (!model || !adopter._handleNewSession) {
    return false;
  }
  const { session } = context;
  if (session?.id !== model.id || session.kernel?.id !== kernelId) {
    adopter._handleNewSession(sessionManager.connectTo({ model }));
  }
  return true;
}

async function change(
  context: ISessionContext,
  model: Partial<Kernel.IModel>
): Promise<Kernel.IKernelConnection | null> {
  try {
    return await context.changeKernel(model);
  } catch (error) {
    const status =
      error instanceof ServerConnection.ResponseError && error.response.status;
    if (status !== 404) {
      throw error;
    }
    // A server that was started anew knows nothing of the notebook's session, which JupyterLab
    // finds out when it next asks. Without one, a new session is begun.
    await context.sessionManager.refreshRunning();
    return context.changeKernel(model);
  }
}

/** A kernel answers a moment before its status is reported. */
async function statusKnown(kernel: Kernel.IKernelConnection): Promise<void> {
  if (kernel.status !== 'unknown') {
    return;
  }
  const known = new PromiseDelegate<void>();
  const resolve = () => known.resolve();
  kernel.statusChanged.connect(resolve);
  const timer = window.setTimeout(resolve, STATUS_MS);
  await known.promise;
  window.clearTimeout(timer);
  kernel.statusChanged.disconnect(resolve);
}

export function kernelError(message: string): PageRequestError {
  return new PageRequestError('kernel_error', message);
}

/**
 * Wait until a kernel has nothing to do (it neither runs code nor has been sent some by this page)
 * or until `given` up.
 */
export async function kernelFree(
  context: ISessionContext,
  executions: ExecutionTracker,
  given: Promise<void>
): Promise<void> {
  const free = new PromiseDelegate<void>();
  let timer: number | undefined;
  let isOver = false;
  let isAsking = false;
  const ask = async () => {
    isAsking = true;
    const isUnheard = () =>
      !isOver && context.session?.kernel?.status === 'unknown';
    const isBack = () => executions.isBackUnheard(context);
    if ((await answers(context, () => !isUnheard(), isBack)) && isUnheard()) {
      free.resolve();
    }
    isAsking = false;
  };
  const check = () => {
    window.clearTimeout(timer);
    const status = context.session?.kernel?.status;
    if (status === 'unknown' && !isAsking) {
      void ask();
    }
    if (status && BUSY.includes(status)) {
      return;
    }
    if (executions.hasRequests(context)) {
      timer = window.setTimeout(() => free.resolve(), LOST_REPLY_MS);
    } else {
      free.resolve();
    }
  };
  context.statusChanged.connect(check);
  executions.changed.connect(check);
  check();
  await Promise.race([free.promise, given]);
  isOver = true;
  window.clearTimeout(timer);
  context.statusChanged.disconnect(check);
  executions.changed.disconnect(check);
}
