import { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import {
  ICommandPalette,
  MainAreaWidget,
  WidgetTracker
} from '@jupyterlab/apputils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import type { IEditorMimeTypeService } from '@jupyterlab/codeeditor';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type {
  ICell,
  ILanguageInfoMetadata,
  INotebookContent
} from '@jupyterlab/nbformat';
import type { YNotebook } from '@jupyter/ydoc';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { Documents } from '../notebook/documents';
import type { IReadNotebook } from './diffModel';
import type { DiffContent } from './diffTab';
import type { Pending } from './pending';
import type { IChangesSource } from './source';

/** The command that opens the diff of a turn in a tab. */
export const SHOW_DIFF = 'datalayer-agent:show-diff';

type DiffTab = MainAreaWidget<DiffContent>;

/** What the command needs. */
export interface IDiffsPage {
  app: JupyterFrontEnd;
  source: IChangesSource;
  pending: Pending;
  documents: Documents;
  manager: IDocumentManager;
  palette: ICommandPalette | null;
  mimeTypes: IEditorMimeTypeService;
  languages: IEditorLanguageRegistry | null;
  restorer: ILayoutRestorer | null;
  /** The active notebook, by its path. */
  notebook: () => string | null;
}

interface IDiffsOptions extends IDiffsPage {
  tabs: WidgetTracker<DiffTab>;
}

/** Add the command, and to the palette; the tabs come back with the page's layout. */
export function addDiffCommand(page: IDiffsPage): void {
  const { app, source, pending, palette, restorer } = page;
  const { commands } = app;
  const tabs = new WidgetTracker<DiffTab>({
    namespace: 'datalayer-agent-diff'
  });
  const options = { ...page, tabs };
  commands.addCommand(SHOW_DIFF, {
    label: "Show the Agent's Changes as a Diff",
    caption:
      'Show all changes of a turn in a tab: sources, outputs and metadata',
    describedBy: {
      args: {
        type: 'object',
        properties: {
          turnId: {
            type: 'string',
            description:
              'The turn. Default: the latest that changed this notebook'
          },
          sessionId: {
            type: 'string',
            description: 'Its session. Default: the one shown in the panel'
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
  void restorer?.restore(tabs, {
    command: SHOW_DIFF,
    args: ({ content: { model } }) => ({
      turnId: model.turnId,
      sessionId: model.sessionId
    }),
    name: ({ content: { model } }) => model.turnId
  });
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
  const { app, source, pending, mimeTypes, languages, tabs } = options;
  const [{ makeDiffTab, tabId }, { DiffModel }, { colourBy }] =
    await Promise.all([
      import('./diffTab'),
      import('./diffModel'),
      import('../diff/colours')
    ]);
  const id = tabId(turnId);
  let tab = [...app.shell.widgets('main')].find(widget => widget.id === id);
  if (!tab) {
    const model = new DiffModel({
      source,
      pending,
      sessionId,
      turnId,
      read: path => read(options, path),
      mimeTypeOf: path => mimeTypes.getMimeTypeByFilePath(path),
      colour: languages && colourBy(languages)
    });
    const made = makeDiffTab(model);
    tab = made;
    await tabs.add(made);
    app.shell.add(tab, 'main', { type: 'Agent Changes' });
  }
  if (tab instanceof MainAreaWidget) {
    app.shell.activateById(id);
  }
}

/** A notebook as the page has it, else as it is on disk; null where it is gone. */
async function read(
  { documents, manager, mimeTypes }: IDiffsOptions,
  path: string
): Promise<IReadNotebook | null> {
  const typeOf = (language?: ILanguageInfoMetadata) =>
    mimeTypes.getMimeTypeByLanguage(language ?? { name: 'python' });
  const model = documents.findNotebook(path)?.model;
  if (model) {
    const notebook = model.sharedModel as YNotebook;
    const { cells, metadata } = notebook.toJSON();
    return {
      notebook,
      cells: cells as ICell[],
      mimeType: typeOf(metadata.language_info as ILanguageInfoMetadata)
    };
  }
  try {
    const { content } = await manager.services.contents.get(path, {
      type: 'notebook',
      content: true
    });
    const file = content as INotebookContent;
    const named = file.cells.map((cell, place) => ({
      getId: () => String(cell.id ?? place),
      getSource: () => [cell.source].flat().join('')
    }));
    return {
      notebook: { ...file, cells: named },
      cells: file.cells,
      mimeType: typeOf(file.metadata.language_info)
    };
  } catch {
    return null; // Deleted, or moved.
  }
}
