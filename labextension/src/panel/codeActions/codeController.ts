import { JupyterFrontEnd } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { ReadonlyPartialJSONObject, UUID } from '@lumino/coreutils';
import { DisposableDelegate, IDisposable } from '@lumino/disposable';

import { CellEdit } from '../../api';
import { ProposalDecision } from '../../api/types';
import { CellReader, indexOf, sharedNotebook } from '../../notebook/cells';
import { Documents } from '../../notebook/documents';
import { applyEdits } from '../../notebook/edits/edit';
import { hashSource } from '../../notebook/edits/hash';
import {
  decisionOf,
  IProposeArguments,
  IShownProposal,
  PROPOSE
} from '../../inline/propose';
import { IFencedBlock, isMarkdown } from '../../proposals';
import { Decided } from '../../proposals/proposalDecisions';
import { CodeRow, CodeActionKind, ICodeAction } from '../../ui/codeRow';
import { planOf } from './actions';
import { Places } from './places';
import { replaceText } from './replaceText';

/** Nothing is asked for here that an execution would tell. */
const READER = new CellReader({ get: () => undefined });

/** What the actions on code blocks work with. */
export interface ICodeControllerOptions {
  app: JupyterFrontEnd;
  tracker: INotebookTracker;
  manager: IDocumentManager;
  documents: Documents;
  reportError: (error: unknown) => void;
  /** The session that is shown, and what became of its proposals. */
  sessionId: () => string | null;
  decided: Decided;
}

interface IShownBlock {
  row: CodeRow;
  block: IFencedBlock;
  notebook?: string;
}

/** Does with the code blocks of answers what the user wants done with them. */
export class CodeController implements IDisposable {
  constructor(private readonly _options: ICodeControllerOptions) {
    const { app, tracker } = _options;
    app.shell.currentChanged?.connect(this._schedule, this);
    tracker.currentChanged.connect(this._schedule, this);
    tracker.activeCellChanged.connect(this._schedule, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      const { app, tracker } = this._options;
      app.shell.currentChanged?.disconnect(this._schedule, this);
      tracker.currentChanged.disconnect(this._schedule, this);
      tracker.activeCellChanged.disconnect(this._schedule, this);
    }
  }

  /**
   * Show under a block what can be done with it, for as long as it is shown. `notebook`: what the
   * answer is about.
   */
  add(
    block: IFencedBlock,
    notebook?: string
  ): { row: CodeRow; shown: IDisposable } {
    const row = new CodeRow(act => this._run(act, shown));
    const shown: IShownBlock = { row, block, notebook };
    this._update([shown]);
    // Cells may have been moved since.
    for (const type of ['pointerenter', 'focusin']) {
      row.node.addEventListener(type, () => this._update([shown]));
    }
    this._shown.add(shown);
    return {
      row,
      shown: new DisposableDelegate(() => this._shown.delete(shown))
    };
  }

  /** Do it; what was done, in words, or null where it was not. */
  private async _run(
    act: CodeActionKind,
    shown: IShownBlock
  ): Promise<string | null> {
    const { block, notebook } = shown;
    const { actions } = planOf(block, this._places(), notebook);
    const action = actions.find(each => each.act === act);
    try {
      if (!action || action.reason) {
        throw new Error(action?.reason ?? 'Not possible here.');
      }
      await this._carryOut(action, block);
      return `Done: ${action.label}`;
    } catch (error) {
      this._options.reportError(error);
      return null;
    } finally {
      this._update([shown]);
    }
  }

  private async _carryOut(
    action: ICodeAction,
    block: IFencedBlock
  ): Promise<void> {
    const { act, path, cellId } = action;
    if (act === 'apply') {
      await this._apply(action, block);
    } else if (cellId === undefined) {
      await replaceText(this._options, path, block.source);
    } else {
      await this._edit(path, cellId, act, block);
    }
    const { target } = block;
    if (
      target &&
      act !== 'apply' &&
      (act === 'replace') === (target.kind !== 'after')
    ) {
      this._note(decisionOf(target, 'accepted'), this._options.sessionId());
    }
  }

  /** Show it as a diff where it belongs. */
  private async _apply(
    { path, cellId }: ICodeAction,
    { language, source, isComplete, target }: IFencedBlock
  ): Promise<void> {
    if (cellId !== undefined && !this._options.documents.findNotebook(path)) {
      await this._options.documents.open(path);
    }
    const args: IProposeArguments = {
      path,
      proposal: {
        target: target?.kind === 'file' ? { kind: 'file', path } : target!,
        language,
        source,
        isComplete
      },
      from: 'Proposed in the panel'
    };
    const { app, sessionId } = this._options;
    const session = sessionId();
    const shown = (await app.commands.execute(
      PROPOSE,
      args as unknown as ReadonlyPartialJSONObject
    )) as IShownProposal;
    void shown.decided.then(decision => this._note(decision, session));
  }

  private _note(decision: ProposalDecision, sessionId: string | null): void {
    if (sessionId !== null) {
      this._options.decided.note(sessionId, decision);
    }
  }

  /** Insert a cell next to one, or replace its source; and go there. One step of the undo. */
  private async _edit(
    path: string,
    cellId: string,
    act: Exclude<CodeActionKind, 'apply'>,
    block: IFencedBlock
  ): Promise<void> {
    const { source } = block;
    const panel = await this._options.documents.notebook(path);
    const cell = sharedNotebook(panel).cells.find(
      each => each.getId() === cellId
    );
    const madeId = UUID.uuid4();
    const edit: CellEdit =
      act === 'replace'
        ? {
            op: 'update',
            cellId,
            baseHash: hashSource(cell?.getSource() ?? ''),
            source,
            // A block that does not say what it is leaves the cell what it was.
            type: block.language ? typeOf(block) : undefined
          }
        : {
            op: 'insert',
            cellId: madeId,
            type: typeOf(block),
            source,
            position: act === 'above' ? { before: cellId } : { after: cellId }
          };
    applyEdits(panel, [edit], READER);
    await this._goTo(panel, path, act === 'replace' ? cellId : madeId);
  }

  /** Make it the active cell. In the active notebook, the keyboard stays where it is. */
  private async _goTo(
    panel: NotebookPanel,
    path: string,
    cellId: string
  ): Promise<void> {
    if (panel !== this._options.app.shell.currentWidget) {
      await this._options.documents.reveal(path, cellId, true);
      return;
    }
    const { content } = panel;
    const index = indexOf(sharedNotebook(panel), cellId);
    content.deselectAll();
    content.activeCellIndex = index;
    await content.scrollToItem(index, 'smart');
  }

  private _places(): Places {
    const { app, tracker } = this._options;
    return new Places(
      this._options.documents,
      tracker,
      app.shell.currentWidget
    );
  }

  private _update(some: Iterable<IShownBlock>): void {
    const places = this._places();
    for (const { row, block, notebook } of some) {
      row.update(planOf(block, places, notebook));
    }
  }

  /** In a frame, since such changes come in numbers. */
  private _schedule(): void {
    if (this._frame === null && this._shown.size) {
      this._frame = requestAnimationFrame(() => {
        this._frame = null;
        if (!this._isDisposed) {
          this._update(this._shown);
        }
      });
    }
  }

  private readonly _shown = new Set<IShownBlock>();
  private _frame: number | null = null;
  private _isDisposed = false;
}

function typeOf(block: IFencedBlock): 'code' | 'markdown' {
  return isMarkdown(block) ? 'markdown' : 'code';
}
