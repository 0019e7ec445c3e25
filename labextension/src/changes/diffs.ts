import { JupyterFrontEnd } from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget } from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import type { ICell, INotebookContent } from '@jupyterlab/nbformat';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { Documents } from '../bridge/documents';
import type { Pending } from './pending';
import type { IChangesSource } from './source';

/** The command that opens the diff of a turn in a tab. */
export const SHOW_DIFF = 'datalayer-agent:show-diff';

/** What the command needs. */
export interface IDiffsOptions {
  app: JupyterFrontEnd;
  source: IChangesSource;
  pending: Pending;
  documents: Documents;
  manager: IDocumentManager;
  palette: ICommandPalette | null;
  /** The notebook in front, by its path. */
  notebook: () => string | null;
}

/** Add the command, and to the palette. */
export function addDiffCommand(options: IDiffsOptions): void {
  const { app, source, pending, palette } = options;
  const { commands } = app;
  commands.addCommand(SHOW_DIFF, {
    label: "Show the Agent's Changes as a Diff",
    caption:
      'All that a turn changed, in a tab: sources, outputs and metadata apart',
    describedBy: {
      args: {
        type: 'object',
        properties: {
          turnId: {
            type: 'string',
            description:
              'The turn. Default: the newest that changed this notebook'
          },
          sessionId: {
            type: 'string',
            description:
              'Its conversation. Default: the one that the panel shows'
          }
        }
      }
    },
    isEnabled: args => turnOf(options, args) !== null,
    execute: args => {
      const turn = turnOf(options, args);
      return turn ? show(options, turn) : undefined;
    }
  });
  palette?.addItem({ command: SHOW_DIFF, category: 'Agent' });
  pending.changed.connect(() => commands.notifyCommandChanged(SHOW_DIFF));
  source.changes.diffWanted.connect((_, turnId) => {
    void commands.execute(SHOW_DIFF, { turnId });
  });
}

/** A turn with the conversation that it is of. */
interface ITurnPlace {
  turnId: string;
  sessionId: string;
}

/** The turn that is meant: the one that is named, that waits here, or the newest that changed anything. */
function turnOf(
  { source, pending, notebook }: IDiffsOptions,
  args: ReadonlyPartialJSONObject
): ITurnPlace | null {
  const { sessionId: shownId, store } = source.shown.current;
  const sessionId =
    typeof args.sessionId === 'string' ? args.sessionId : shownId;
  if (typeof args.turnId === 'string') {
    return sessionId ? { turnId: args.turnId, sessionId } : null;
  }
  const path = notebook();
  const [here] = path === null ? [] : pending.of(path).turns;
  if (here?.session.sessionId) {
    return { turnId: here.turnId, sessionId: here.session.sessionId };
  }
  const turnId = [...store.conversation.current.turnIds]
    .reverse()
    .find(id => store.turn(id).current.changes.length > 0);
  return turnId && shownId ? { turnId, sessionId: shownId } : null;
}

async function show(
  options: IDiffsOptions,
  { turnId, sessionId }: ITurnPlace
): Promise<void> {
  const { app, source, pending } = options;
  const [{ makeDiffTab, tabId }, { DiffModel }] = await Promise.all([
    import('./diffTab'),
    import('./diffModel')
  ]);
  const id = tabId(turnId);
  let tab = [...app.shell.widgets('main')].find(widget => widget.id === id);
  if (!tab) {
    const model = new DiffModel({
      source,
      pending,
      sessionId,
      turnId,
      readCells: path => readCells(options, path)
    });
    tab = makeDiffTab(model);
    app.shell.add(tab, 'main', { type: 'Agent Changes' });
  }
  if (tab instanceof MainAreaWidget) {
    app.shell.activateById(id);
  }
}

/** The cells of a notebook as the page has them, else as they are on disk; null where it is gone. */
async function readCells(
  { documents, manager }: IDiffsOptions,
  path: string
): Promise<readonly ICell[] | null> {
  if (!path.endsWith('.ipynb')) {
    return null;
  }
  const model = documents.findNotebook(path)?.model;
  if (model) {
    return model.sharedModel.toJSON().cells as ICell[];
  }
  try {
    const { content } = await manager.services.contents.get(path, {
      type: 'notebook',
      content: true
    });
    return (content as INotebookContent).cells;
  } catch {
    return null; // Deleted, or moved.
  }
}
