import { ISessionContext, ISessionContextDialogs } from '@jupyterlab/apputils';
import { Session } from '@jupyterlab/services';

/**
 * Shows the kernel that a document has: the server starts one for it when its code runs first, and
 * the page is not notified of that.
 */
export class DocumentKernel {
  constructor(
    private readonly _context: ISessionContext,
    private readonly _sessions: Session.IManager,
    private readonly _dialogs: ISessionContextDialogs
  ) {}

  /** JupyterLab's dialogs, for the user to choose or restart the kernel. */
  readonly dialogs: ISessionContextDialogs = {
    selectKernel: context =>
      this._afterOthers(async () => {
        // Else a choice would wait for it.
        await this._context.initialize();
        await this._dialogs.selectKernel(context);
      }),
    restart: context => this._dialogs.restart(context)
  };

  /** Connect to the kernel of the document, if one runs. */
  follow(): Promise<void> {
    return this._afterOthers(async () => {
      try {
        await this._connect();
      } catch (error) {
        // The kernel runs all the same; the toolbar does not show it.
        console.debug(
          'datalayer-agent: the kernel of a document is unknown',
          error
        );
      }
    });
  }

  private async _connect(): Promise<void> {
    const context = this._context;
    if (context.isDisposed || context.session) {
      return;
    }
    const model = await this._sessions.findByPath(context.path);
    if (!model?.kernel || context.isDisposed || context.session) {
      return;
    }
    // The first time, this connects to the session that there is.
    await context.initialize();
    if (!context.session && !context.isDisposed) {
      await context.changeKernel({ id: model.kernel.id });
    }
  }

  /** One at a time: JupyterLab shuts down the kernel of a change that a later one overtakes. */
  private _afterOthers(act: () => Promise<void>): Promise<void> {
    const done = this._last.then(act);
    this._last = done.catch(() => undefined);
    return done;
  }

  private _last = Promise.resolve();
}
