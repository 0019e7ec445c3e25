import { PathExt } from '@jupyterlab/coreutils';

import { asksForWork, pointsAtNotebook } from '../../proposals/aboutNotebook';
import { mentionsIn } from './attachments/references';
import { IEditor } from '../../notebook/editor';
import { IShown } from '../sessionList/sessionController';
import { ComposerState } from './composerState';
import { ISubmitted } from './messageController';
import { IReadiness } from './models';
import { ConversationStore } from '../../session/store';
import { IReadable, Observable } from '../../session/observable';

/** A way to let the next message have what it lacks: a notebook, mostly. */
export interface IRemedy {
  label: string;
  /** The notebook that is the active one then. */
  notebook?: string;
  act: () => Promise<void>;
}

/** A message that waits for the user to say whether a notebook goes with it. */
export interface INotebookQuestion {
  message: string;
  why: string;
  remedies: readonly IRemedy[];
}

/** The parts of the panel that decide whether a message needs a notebook. */
export interface INotebookContext {
  editor: IEditor;
  composerState: ComposerState;
  shown: IReadable<IShown>;
  readinessOf: (model: string | undefined) => IReadiness;
  messages: { submitted: ISubmitted };
}

/** How many of the open notebooks are offered where none is active. */
const MOST = 3;

/**
 * Asks before a message goes out that needs a notebook and has none: by its words in every mode, by
 * its mode where that works in notebooks. What is attached stays the user's choice.
 */
export class NotebookQuestion extends Observable<INotebookQuestion | null> {
  constructor(private readonly _panel: INotebookContext) {
    super(null);
  }

  /** Whether there is something to ask about a message. */
  isDueFor(message: string): boolean {
    return (
      this.current?.message !== message && this._questionOn(message) !== null
    );
  }

  /** Ask about a message where need be; true where it has to wait for the answer. */
  ask(message: string): boolean {
    const isAnswered = this.current?.message === message;
    const question = isAnswered ? null : this._questionOn(message);
    if (isAnswered) {
      this._note();
    }
    this.set(question);
    return question !== null;
  }

  /** Answer: with a notebook, or without; what the message is about then. */
  answer(remedy: IRemedy | null): Promise<ISubmitted> {
    const done = remedy?.act() ?? Promise.resolve();
    if (!remedy) {
      this._note();
    }
    this.set(null);
    const { submitted } = this._panel.messages;
    const { notebook } = remedy ?? {};
    const answered = notebook
      ? { ...submitted, activeNotebook: notebook }
      : submitted;
    return done.then(() => answered);
  }

  private _questionOn(message: string): INotebookQuestion | null {
    const { composerState, shown } = this._panel;
    const { mode, model, attachments } = composerState.current;
    const { store } = shown.current;
    if (
      !this._panel.readinessOf(model).isReady ||
      /^\s*agent:/i.test(message) ||
      mentionsIn(message, false).length
    ) {
      return null; // It goes nowhere, attaches the notebook by itself, or names its document.
    }
    const isFirst =
      !attachments.length && !store.conversation.current.turnIds.length;
    const isMeant = pointsAtNotebook(message, isFirst);
    const isWork =
      mode !== 'ask' &&
      !this._withoutOne.has(store) &&
      !attachments.some(({ kind }) => kind === 'notebook') &&
      asksForWork(message);
    return isMeant || isWork ? questionAbout(this._panel, message) : null;
  }

  /** In this conversation, what the mode does goes on without a notebook. */
  private _note(): void {
    this._withoutOne.add(this._panel.shown.current.store);
  }

  private readonly _withoutOne = new WeakSet<ConversationStore>();
}

/** The question, where a notebook is open that the message would not have; else null. */
function questionAbout(
  panel: INotebookContext,
  message: string
): INotebookQuestion | null {
  const { composerState, editor } = panel;
  const active = editor.activeNotebook;
  const isHere = composerState.current.attachments.some(
    ({ path }) => path && path === active
  );
  // Who says “this notebook” means the active one first.
  const remedies = isHere ? [] : notebookRemedies(panel).reverse();
  if (!isHere && !active && !remedies.length) {
    for (const path of editor.openNotebooks.slice(0, MOST)) {
      remedies.push({
        label: `Attach ${PathExt.basename(path)}`,
        notebook: path,
        act: () => {
          composerState.attach({ kind: 'notebook', path });
          return editor.reveal(path);
        }
      });
    }
  }
  if (!remedies.length) {
    return null;
  }
  const why = active
    ? `${PathExt.basename(active)} is not attached, so the agent cannot see it.`
    : 'No notebook is active, so the agent cannot see one.';
  return { message, why, remedies };
}

/** To go to a notebook that is attached, or to attach the active one, in this order. */
export function notebookRemedies({
  composerState,
  editor
}: Pick<INotebookContext, 'composerState' | 'editor'>): IRemedy[] {
  const active = editor.activeNotebook;
  if (active && composerState.hasNotebook(active)) {
    return [];
  }
  const remedies = composerState.current.attachments.flatMap(
    ({ kind, path }): IRemedy[] =>
      kind === 'notebook' && path
        ? [
            {
              label: `Open ${PathExt.basename(path)}`,
              notebook: path,
              act: () => editor.reveal(path)
            }
          ]
        : []
  );
  if (active) {
    remedies.push({
      label: `Attach ${PathExt.basename(active)}`,
      notebook: active,
      act: async () => composerState.attach({ kind: 'notebook', path: active })
    });
  }
  return remedies;
}
