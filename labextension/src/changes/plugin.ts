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

import type { LexicalDocument } from '../lexical/factory';
import { Documents } from '../notebook/documents';
import { IAgentChanges, IDocuments, ILexicalTracker } from '../tokens';
import type { ChangesOnPage } from './changesOnPage';
import { listenToOtherSessions } from './sessionsWithChanges';
import { addDiffCommand, SHOW_DIFF } from './diffs';
import { addFollowing, CHANGES_ID } from './followSetting';
import type { IDocumentChanges } from './documentChanges';
import type { LexicalChanges } from './lexicalChanges';
import { IPendingTurn, Pending } from './pending';
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
    IEditorLanguageRegistry,
    ILexicalTracker
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
    languages: IEditorLanguageRegistry | null,
    lexical: ILexicalTracker | null
  ): void => {
    const sessions = new SessionsOnPage(source);
    const pending = new Pending(sessions);
    listenToOtherSessions(source, sessions, tracker, panel =>
      documents.pathOf(panel.context)
    );
    if (lexical) {
      listenToOtherSessions(source, sessions, lexical, ({ context }) =>
        documents.pathOf(context)
      );
    }
    const showDiff = ({ turnId, session }: IPendingTurn) =>
      void app.commands.execute(SHOW_DIFF, {
        turnId,
        sessionId: session.sessionId
      });
    const openPanel = () => void app.commands.execute(OPEN_PANEL);
    const ofLexical = new WeakMap<LexicalDocument, LexicalChanges>();
    let page: ChangesOnPage | null = null;
    const load = async () => {
      // Nothing of it is needed before a turn runs, or is found to wait.
      pending.changed.disconnect(loadWhenLikely);
      const { ChangesOnPage } = await import('./changesOnPage');
      page = new ChangesOnPage(
        tracker,
        panel => documents.pathOf(panel.context),
        { pending, showDiff, openPanel }
      );
      if (lexical) {
        const { LexicalChanges } = await import('./lexicalChanges');
        const follow = (widget: LexicalDocument) =>
          void ofLexical.set(
            widget,
            new LexicalChanges({
              widget,
              pending,
              client: source.client,
              path: () => documents.pathOf(widget.context),
              showDiff,
              openPanel
            })
          );
        lexical.forEach(follow);
        lexical.widgetAdded.connect((_, widget) => follow(widget));
      }
    };
    const loadWhenLikely = () => {
      if (pending.isLikely) {
        void load();
      }
    };
    pending.changed.connect(loadWhenLikely);
    const current = () => {
      const shown = lexical?.currentWidget;
      return shown && shown === app.shell.currentWidget
        ? (ofLexical.get(shown) ?? null)
        : (page?.of(tracker.currentWidget) ?? null);
    };
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
  current: () => IDocumentChanges | null,
  palette: ICommandPalette | null
): void {
  const noArguments = { args: { type: 'object', properties: {} } } as const;
  const add = (
    id: string,
    label: string,
    caption: string,
    isEnabled: (changes: IDocumentChanges) => boolean,
    act: (changes: IDocumentChanges) => unknown
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
  const hasMarks = (changes: IDocumentChanges) => changes.hasMarks;
  add(
    CommandIDs.keep,
    "Keep the Agent's Changes in This Document",
    'Keep the changes of the latest turn in this document',
    changes => changes.canDecide,
    changes => changes.keep()
  );
  add(
    CommandIDs.undo,
    "Undo the Agent's Changes in This Document",
    'Revert the changes of the latest turn in this document; your later edits are kept',
    changes => changes.canDecide,
    changes => changes.undo()
  );
  add(CommandIDs.next, 'Next Agent Change', 'Go to it', hasMarks, changes =>
    changes.move(1)
  );
  add(
    CommandIDs.previous,
    'Previous Cell or Block That the Agent Changed',
    'Go to it',
    hasMarks,
    changes => changes.move(-1)
  );
  pending.changed.connect(() => {
    Object.values(CommandIDs).forEach(id => commands.notifyCommandChanged(id));
  });
}
