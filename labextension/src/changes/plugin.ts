import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { Documents } from '../notebook/documents';
import { IAgentChanges, IDocuments } from '../tokens';
import type { ChangesOnPage } from './changesOnPage';
import { listenToOtherSessions } from './sessionsWithChanges';
import { addDiffCommand, SHOW_DIFF } from './diffs';
import { addFollowing, CHANGES_ID } from './followSetting';
import type { NotebookChanges } from './notebookChanges';
import { Pending } from './pending';
import { SessionsOnPage } from './sessionsOnPage';
import type { IChangesSource } from './source';

/** Ids of the commands about what the agent changed. */
export const CommandIDs = {
  keep: 'datalayer-agent:keep-changes',
  undo: 'datalayer-agent:undo-changes',
  next: 'datalayer-agent:next-changed-cell',
  previous: 'datalayer-agent:previous-changed-cell'
} as const;

const OPEN_PANEL = 'datalayer-agent:open';

/** What the agent changed, shown where it happened, and its diff in a tab. */
export const changesPlugin: JupyterFrontEndPlugin<void> = {
  id: CHANGES_ID,
  description: "The agent's changes in notebooks: marks, keep and undo, diffs.",
  autoStart: true,
  requires: [
    IAgentChanges,
    IDocumentManager,
    IDocuments,
    INotebookTracker,
    IEditorServices
  ],
  optional: [
    ICommandPalette,
    ISettingRegistry,
    ILayoutRestorer,
    IEditorLanguageRegistry
  ],
  activate: (
    app: JupyterFrontEnd,
    source: IChangesSource,
    manager: IDocumentManager,
    documents: Documents,
    tracker: INotebookTracker,
    editors: IEditorServices,
    palette: ICommandPalette | null,
    settings: ISettingRegistry | null,
    restorer: ILayoutRestorer | null,
    languages: IEditorLanguageRegistry | null
  ): void => {
    const sessions = new SessionsOnPage(source);
    const pending = new Pending(sessions);
    listenToOtherSessions(source, sessions, tracker, panel =>
      documents.pathOf(panel.context)
    );
    let page: ChangesOnPage | null = null;
    const load = async () => {
      // Nothing of it is needed before a turn runs, or is found to wait.
      pending.changed.disconnect(loadWhenLikely);
      const { ChangesOnPage } = await import('./changesOnPage');
      page = new ChangesOnPage(
        tracker,
        panel => documents.pathOf(panel.context),
        {
          pending,
          showDiff: ({ turnId, session }) =>
            void app.commands.execute(SHOW_DIFF, {
              turnId,
              sessionId: session.sessionId
            }),
          openPanel: () => void app.commands.execute(OPEN_PANEL)
        }
      );
    };
    const loadWhenLikely = () => {
      if (pending.isLikely) {
        void load();
      }
    };
    pending.changed.connect(loadWhenLikely);
    const current = () => page?.of(tracker.currentWidget) ?? null;
    addCommands(app, pending, current, palette);
    void addFollowing(app, source.following, palette, settings);
    addDiffCommand({
      app,
      source,
      pending,
      documents,
      manager,
      palette,
      mimeTypes: editors.mimeTypeService,
      languages,
      restorer,
      notebook: () => {
        const panel = tracker.currentWidget;
        return panel && documents.pathOf(panel.context);
      }
    });
  }
};

function addCommands(
  { commands }: JupyterFrontEnd,
  pending: Pending,
  current: () => NotebookChanges | null,
  palette: ICommandPalette | null
): void {
  const noArguments = { args: { type: 'object', properties: {} } } as const;
  const add = (
    id: string,
    label: string,
    caption: string,
    isEnabled: (changes: NotebookChanges) => boolean,
    act: (changes: NotebookChanges) => unknown
  ) => {
    commands.addCommand(id, {
      label,
      caption,
      describedBy: noArguments,
      isEnabled: () => {
        const changes = current();
        return changes !== null && isEnabled(changes);
      },
      execute: () => {
        const changes = current();
        return changes && act(changes);
      }
    });
    palette?.addItem({ command: id, category: 'Agent' });
  };
  const hasCells = ({ pending: { cells } }: NotebookChanges) => cells.size > 0;
  add(
    CommandIDs.keep,
    "Keep the Agent's Changes in This Notebook",
    'Keep the changes of the latest turn in this notebook',
    changes => changes.canDecide,
    changes => changes.keep()
  );
  add(
    CommandIDs.undo,
    "Undo the Agent's Changes in This Notebook",
    'Revert the changes of the latest turn in this notebook; your later edits are kept',
    changes => changes.canDecide,
    changes => changes.undo()
  );
  add(
    CommandIDs.next,
    'Next Cell That the Agent Changed',
    'Go to it',
    hasCells,
    changes => changes.move(1)
  );
  add(
    CommandIDs.previous,
    'Previous Cell That the Agent Changed',
    'Go to it',
    hasCells,
    changes => changes.move(-1)
  );
  pending.changed.connect(() => {
    Object.values(CommandIDs).forEach(id => commands.notifyCommandChanged(id));
  });
}
