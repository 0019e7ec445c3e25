import { IFile } from '../../api/client';
import { Event, ExportFormat, Op } from '../../api/types';
import { Ask } from './ask';
import { IEditor } from '../../notebook/editor';
import { IPanelClient } from '../../api/services';
import { SessionController } from './sessionController';

/** How old an event may be that is still news, in ms. */
const NOW_MS = 5000;

/** The forms of an exported session, as they are called. */
const FORMATS: Record<ExportFormat, string> = {
  md: 'Markdown',
  ipynb: 'a notebook',
  json: 'JSON'
};

/** What a `HistoryController` works with, and whom it notifies. */
export interface IHistoryControllerOptions {
  client: Pick<
    IPanelClient,
    'forkSession' | 'exportSession' | 'listPrompts' | 'turnChanges'
  >;
  sessions: SessionController;
  editor: IEditor;
  submit: (op: Op, sessionId?: string) => Promise<void>;
  ask: Ask;
  /** Gives the user a file. */
  keep: (file: IFile) => void;
  notify: (message: string) => void;
  reportError: (error: unknown) => void;
}

/** Acts on the conversation history: rewind, fork, export, compact, clear. */
export class HistoryController {
  constructor(private readonly _options: IHistoryControllerOptions) {}

  /** Go on in a copy of the session that is shown, up to a turn; left out, with all of it. */
  async fork(turnId?: string): Promise<void> {
    const { client, sessions, reportError } = this._options;
    const { sessionId } = sessions.shown.current;
    if (!sessionId) {
      this._nothing();
      return;
    }
    try {
      const made = await client.forkSession(sessionId, { turnId });
      await sessions.open(made.id);
    } catch (error) {
      reportError(error);
    }
  }

  /**
   * Ask, and go back to a turn, or to before its message: the turns after that are withdrawn. False
   * where the user thought better of it.
   */
  async goBack(turnId: string, includeTurn = false): Promise<boolean> {
    const { sessions, ask } = this._options;
    const { store, sessionId } = sessions.shown.current;
    const { turnIds, withdrawn } = store.conversation.current;
    const later = turnIds
      .slice(turnIds.indexOf(turnId) + (includeTurn ? 0 : 1))
      .filter(id => !withdrawn.has(id));
    const hasChanges = later.some(id => store.turn(id).current.changes.length);
    const isOne = later.length === 1;
    const these = !isOne
      ? 'These turns'
      : includeTurn
        ? 'This turn'
        : 'That turn';
    const choice = await ask({
      title: includeTurn ? 'Rewind to before this message?' : 'Rewind to here?',
      body: [
        includeTurn
          ? `${isOne ? 'This turn is' : `This turn and those after it (${later.length}) are`} no longer sent to the model. You can still read ${isOne ? 'it' : 'them'} here.`
          : `${isOne ? 'The turn after this one is' : `The ${later.length} turns after this one are`} no longer sent to the model. You can still read ${isOne ? 'it' : 'them'} here.`,
        ...(hasChanges
          ? [
              `${these} changed documents. Those changes can be reverted as well; cells you edited since are kept.`
            ]
          : [])
      ],
      choices: [
        {
          id: 'conversation',
          label: hasChanges ? 'Conversation Only' : 'Rewind'
        },
        ...(hasChanges
          ? [{ id: 'documents', label: 'With the Documents' }]
          : [])
      ]
    });
    if (choice) {
      await this._submitOp(
        {
          type: 'go_back',
          turnId,
          includeTurn,
          documents: choice === 'documents'
        },
        sessionId
      );
    }
    return choice !== null;
  }

  /** Ask, and forget the conversation that is shown. */
  async clear(): Promise<void> {
    const { sessionId } = this._options.sessions.shown.current;
    if (!sessionId) {
      this._nothing();
      return;
    }
    const choice = await this._options.ask({
      title: 'Clear this session?',
      body: [
        'Its messages and answers, its token count, the variables of its scratch kernel and its list of data sets are deleted. This cannot be undone.',
        "Notebooks and files are kept, but the agent's changes to them can no longer be undone here."
      ],
      choices: [{ id: 'clear', label: 'Clear', isDanger: true }]
    });
    if (choice) {
      await this._submitOp({ type: 'reset' }, sessionId);
    }
  }

  /** Have the older turns summarised now. */
  async compact(): Promise<void> {
    const { sessions } = this._options;
    if (!sessions.shown.current.store.conversation.current.turnIds.length) {
      this._nothing();
      return;
    }
    await this._submitOp({ type: 'compact' });
  }

  /** Give the user the conversation as a file. */
  async export(format: ExportFormat): Promise<void> {
    const file = await this._file(format);
    if (file) {
      const { keep, notify } = this._options;
      keep(file);
      notify(
        `This session was written as ${FORMATS[format]} to ${file.name}, in your browser's downloads.`
      );
    }
  }

  /** Save the conversation as a notebook under the root, and open it. */
  async openAsNotebook(): Promise<void> {
    const { editor, reportError } = this._options;
    const file = await this._file('ipynb');
    if (file) {
      await editor.openNew(file.name, file.text).catch(reportError);
    }
  }

  /** Open a document that a turn changed, at the last of its cells that is still there. */
  async revealChange(turnId: string, path: string): Promise<void> {
    const { client, sessions, editor, reportError } = this._options;
    const { sessionId } = sessions.shown.current;
    try {
      const { changes } = await client.turnChanges(sessionId ?? '', turnId);
      await editor.reveal(path);
      const there = changes.filter(
        change =>
          change.path === path &&
          change.cellId &&
          editor.cell(path, change.cellId)
      );
      const cellId = there[there.length - 1]?.cellId;
      if (cellId) {
        await editor.reveal(path, cellId);
      }
    } catch (error) {
      reportError(error);
    }
  }

  /** What the user should hear of that stands in no turn. */
  onEvent(event: Event): void {
    // What a reload brings again is over.
    const isNow = Math.abs(Date.now() - event.at) < NOW_MS;
    if (event.type === 'status' && !event.turnId && isNow) {
      this._options.notify(event.message);
    }
    if (event.type === 'context_compacted' && !event.turnId && isNow) {
      this._options.notify(
        event.how === 'summary'
          ? 'Earlier turns were summarised.'
          : 'Earlier turns are no longer sent to the model.'
      );
    }
    if (event.type === 'went_back' && event.left?.length && isNow) {
      this._options.notify(
        'Some changes of the reverted turns remain: they were kept before, or the cells were edited since.'
      );
    }
  }

  private async _file(format: ExportFormat): Promise<IFile | null> {
    const { client, sessions, reportError } = this._options;
    const { sessionId } = sessions.shown.current;
    if (!sessionId) {
      this._nothing();
      return null;
    }
    try {
      return await client.exportSession(sessionId, format);
    } catch (error) {
      reportError(error);
      return null;
    }
  }

  private async _submitOp(op: Op, sessionId?: string | null): Promise<void> {
    const { submit, reportError } = this._options;
    await submit(op, sessionId ?? undefined).catch(reportError);
  }

  private _nothing(): void {
    this._options.notify('This session has no messages yet.');
  }
}
