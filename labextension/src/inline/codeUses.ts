import { DisposableDelegate, IDisposable } from '@lumino/disposable';

import { CodeRow, CodeActionKind, ICodeActions } from '../ui/codeRow';
import { IUses } from '../ui/rendering';
import { IFencedBlock } from '../proposals';
import type { InlineModel } from './model';
import { whyNot } from './plain';

const LABELS: Record<Exclude<CodeActionKind, 'replace'>, string> = {
  apply: 'Apply, as a diff',
  above: 'Insert above',
  below: 'Insert below'
};

/** What can be done with code in an answer of an inline chat that is no proposal by itself. */
export class CodeUses implements IUses {
  constructor(private readonly _model: InlineModel) {}

  readonly act = (
    block: IFencedBlock
  ): { row: CodeRow; shown: IDisposable } => {
    const row = new CodeRow(act => this._run(act, block));
    const update = () => row.update(this._planOf(block));
    update();
    // The cell may have become another one since.
    for (const type of ['pointerenter', 'focusin']) {
      row.node.addEventListener(type, update);
    }
    const unsubscribe = this._model.state.subscribe(update);
    return { row, shown: new DisposableDelegate(unsubscribe) };
  };

  private _planOf(block: IFencedBlock): ICodeActions {
    const { target, isWorking } = this._model;
    const path = target.path;
    const general = isWorking
      ? 'The answer is still being written.'
      : target.obstacle;
    const plan = (act: keyof typeof LABELS, reason: string | null) => ({
      act,
      label: LABELS[act],
      reason,
      path
    });
    const apply = plan('apply', general ?? whyNot(block, target.subject));
    return {
      title: '',
      actions: target.insert
        ? [apply, plan('above', general), plan('below', general)]
        : [apply]
    };
  }

  /** Do it; a label of what was done, or null where it was not. */
  private async _run(
    act: CodeActionKind,
    block: IFencedBlock
  ): Promise<string | null> {
    const action = this._planOf(block).actions.find(each => each.act === act);
    if (!action || action.reason !== null) {
      return null;
    }
    if (act === 'apply') {
      await this._model.proposals.apply(block);
    } else {
      this._model.target.insert?.(act === 'above' ? 'before' : 'after', block);
    }
    return `Done: ${action.label}`;
  }
}
