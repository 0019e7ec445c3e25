import { ISessionContext } from '@jupyterlab/apputils';
import { Kernel } from '@jupyterlab/services';

/** How long a first question to a kernel may be unanswered, in ms; each next one twice as long. */
const FIRST_MS = 1_000;
const MOST_MS = 60_000;

/**
 * Ask a kernel of which nothing is heard, until it answers or `isOver`; whether it answered.
 *
 * One that runs code answers at its end. One that is free may have said so before the page could
 * hear it, as it came back after its death, and says nothing more by itself. The server's own
 * list of kernels does not tell the two apart: it has the state from before the death, too.
 *
 * A kernel that dies in its first seconds comes back on other ports. JupyterLab connects anew when
 * it hears of the death, which may be before the ports are changed: such a connection stays silent
 * for good, so one that `isBack` is connected to anew when it does not answer.
 */
export async function answers(
  context: ISessionContext,
  isOver: () => boolean,
  isBack: () => boolean = () => false
): Promise<boolean> {
  for (let wait = FIRST_MS; !isOver(); wait = Math.min(2 * wait, MOST_MS)) {
    const kernel = context.session?.kernel;
    if (!kernel || kernel.isDisposed) {
      return false;
    }
    if (await isHeard(kernel, wait)) {
      return true;
    }
    if (isBack() && !isOver()) {
      // It tries again by itself where that fails.
      kernel.reconnect().catch(() => undefined);
    }
  }
  return false;
}

function isHeard(
  kernel: Kernel.IKernelConnection,
  wait: number
): Promise<boolean> {
  const silence = new Promise<boolean>(resolve =>
    setTimeout(resolve, wait, false)
  );
  // What cannot be sent now is asked again.
  const reply = kernel.requestKernelInfo().then(
    () => true,
    () => silence
  );
  return Promise.race([reply, silence]);
}
