import { ISessionContext } from '@jupyterlab/apputils';
import { Kernel } from '@jupyterlab/services';
import { JSONObject } from '@lumino/coreutils';

/** What is put in the place of some properties of an object, made from what was there. */
type Changes<T> = { [K in keyof T]?: (value: T[K]) => T[K] };

/**
 * A notebook's session by which a cell that fails leaves the kernel's queue alone, by which each
 * request carries the metadata of the run, and by which no other `source` than this is sent.
 * `onSent` is told of each request.
 *
 * JupyterLab has the kernel drop all that waits when a cell fails. Of the agent's cells nothing
 * waits there, since its runs stop by themselves: what waits is the user's.
 */
export function sparingQueue(
  context: ISessionContext,
  metadata: JSONObject = {},
  source: string | null = null,
  onSent?: (kernel: Kernel.IKernelConnection, msgId: string) => void
): ISessionContext {
  return overlay(context, {
    session: session =>
      session &&
      overlay(session, {
        kernel: kernel =>
          kernel &&
          overlay(kernel, {
            requestExecute: () => (content, disposeOnDone, ofCell) => {
              if (source !== null && content.code !== source) {
                throw new Error(
                  'Not run: the cell was changed as it was about to run.'
                );
              }
              const future = kernel.requestExecute(
                { ...content, stop_on_error: false },
                disposeOnDone,
                { ...ofCell, ...metadata }
              );
              onSent?.(kernel, future.msg.header.msg_id);
              return future;
            }
          })
      })
  });
}

/** An object that is another one but for some properties; the other is left as it is. */
function overlay<T extends object>(target: T, changes: Changes<T>): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name, target);
      const change = changes[name as keyof T] as
        | ((value: unknown) => unknown)
        | undefined;
      if (change) {
        return change(value);
      }
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (_, name, value) => Reflect.set(target, name, value, target)
  });
}
