import { IFile } from '../api/client';
import { Event, ExportFormat, Op } from '../api/types';
import { Ask } from './ask';
import { IEditor } from './editor';
import { IPanelClient } from './services';
import { SessionDesk } from './sessionDesk';

/** How old an event may be that is still news, in ms. */
const NOW_MS = 5000;

/** What a `PastDesk` works with, and whom it tells. */
export interface IPastDeskOptions {
  client: Pick<
    IPanelClient,
    'forkSession' | 'exportSession' | 'listPrompts' | 'turnChanges'
  >;
  sessions: SessionDesk;
  editor: IEditor;
  order: (op: Op) => Promise<void>;
  ask: Ask;
  /** Gives the person a file. */
  keep: (file: IFile) => void;
  say: (message: string) => void;
  tell: (error: unknown) => void;
}

/** What a person can do with what was said so far: go back, go on elsewhere, keep it, forget it. */
export class PastDesk {
  constructor(private readonly _options: IPastDeskOptions) {}

  /** Go on in a copy of the session that is shown, up to a turn; left out, with all of it. */
  async fork(turnId?: string): Promise<void> {
    const { client, sessions, tell } = this._options;
    const { sessionId } = sessions.shown.current;
    if (!sessionId) {
      this._nothing();
      return;
    }
    try {
      const made = await client.forkSession(sessionId, { turnId });
      await sessions.open(made.id);
    } catch (error) {
      tell(error);
    }
  }

  /**
   * Ask, and go back to a turn, or to before its message: the turns after that are withdrawn. False
   * where the person thought better of it.
   */
  async goBack(turnId: string, includeTurn = false): Promise<boolean> {
    const { sessions, ask } = this._options;
    const { store } = sessions.shown.current;
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
      title: includeTurn
        ? 'Go back to before this message?'
        : 'Go back to here?',
      body: [
        includeTurn
          ? `${isOne ? 'This turn is' : `This turn and those after it (${later.length}) are`} not sent to the model any more. You can still read ${isOne ? 'it' : 'them'} here.`
          : `${isOne ? 'The turn after this one is' : `The ${later.length} turns after this one are`} not sent to the model any more. You can still read ${isOne ? 'it' : 'them'} here.`,
        ...(hasChanges
          ? [
              `${these} changed documents. That can be taken back as well; cells that you changed since stay as they are.`
            ]
          : [])
      ],
      choices: [
        {
          id: 'conversation',
          label: hasChanges ? 'Conversation Only' : 'Go Back'
        },
        ...(hasChanges
          ? [{ id: 'documents', label: 'With the Documents' }]
          : [])
      ]
    });
    if (choice) {
      await this._order({
        type: 'go_back',
        turnId,
        includeTurn,
        documents: choice === 'documents'
      });
    }
    return choice !== null;
  }

  /** Ask, and forget the conversation that is shown. */
  async clear(): Promise<void> {
    if (!this._options.sessions.shown.current.sessionId) {
      this._nothing();
      return;
    }
    const choice = await this._options.ask({
      title: 'Clear this session?',
      body: [
        'Its messages and answers, its token count, the variables of its scratch kernel and its list of data sets are forgotten, and cannot be brought back.',
        'Notebooks and files stay as they are. What the agent changed in them cannot be undone from here afterwards.'
      ],
      choices: [{ id: 'clear', label: 'Clear', isDanger: true }]
    });
    if (choice) {
      await this._order({ type: 'reset' });
    }
  }

  /** Have the older turns summarised now. */
  async compact(): Promise<void> {
    const { sessions } = this._options;
    if (!sessions.shown.current.store.conversation.current.turnIds.length) {
      this._nothing();
      return;
    }
    await this._order({ type: 'compact' });
  }

  /** Give the person the conversation as a file. */
  async export(format: ExportFormat): Promise<void> {
    const file = await this._file(format);
    if (file) {
      this._options.keep(file);
    }
  }

  /** Save the conversation as a notebook under the root, and open it. */
  async openAsNotebook(): Promise<void> {
    const { editor, tell } = this._options;
    const file = await this._file('ipynb');
    if (file) {
      await editor.openNew(file.name, file.text).catch(tell);
    }
  }

  /** Open a document that a turn changed, at the last of its cells that is still there. */
  async revealChange(turnId: string, path: string): Promise<void> {
    const { client, sessions, editor, tell } = this._options;
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
      tell(error);
    }
  }

  /** What the person should hear of that stands in no turn. */
  onEvent(event: Event): void {
    // What a reload tells again is over.
    const isNow = Math.abs(Date.now() - event.at) < NOW_MS;
    if (event.type === 'status' && !event.turnId && isNow) {
      this._options.say(event.message);
    }
    if (event.type === 'context_compacted' && !event.turnId && isNow) {
      this._options.say(
        event.how === 'summary'
          ? 'The earlier turns were summarised.'
          : 'The earlier turns are no longer sent to the model.'
      );
    }
    if (event.type === 'went_back' && event.left?.length && isNow) {
      this._options.say(
        'Some changes of the turns that were taken back are still there: they were kept before, or the cells were changed since.'
      );
    }
  }

  private async _file(format: ExportFormat): Promise<IFile | null> {
    const { client, sessions, tell } = this._options;
    const { sessionId } = sessions.shown.current;
    if (!sessionId) {
      this._nothing();
      return null;
    }
    try {
      return await client.exportSession(sessionId, format);
    } catch (error) {
      tell(error);
      return null;
    }
  }

  private async _order(op: Op): Promise<void> {
    await this._options.order(op).catch(this._options.tell);
  }

  private _nothing(): void {
    this._options.say('Nothing has been said in this session yet.');
  }
}
