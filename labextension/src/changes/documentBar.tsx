import { ReactWidget } from '@jupyterlab/apputils';
import React from 'react';

import { ChangeBar } from '../approvals/ChangeBar';
import { Choice } from './barChoice';
import { canDecide, IPendingTurn, isRunning } from './pending';

/** What the bar of a document shows, and what its buttons do. */
export interface IDocumentBarOptions {
  turn: IPendingTurn;
  /** How many blocks are marked. */
  count: number;
  keep: () => void;
  undo: () => void;
  showDiff: () => void;
  /** Go to the next changed block, or with -1 to the one before. */
  move: (by: 1 | -1) => void;
  /** What an undo left is decided on in the panel. */
  openPanel: () => void;
}

/** The bar at the top of a Lexical document: what the agent changed, and the decision on it. */
export class DocumentBar extends ReactWidget {
  constructor(private _options: IDocumentBarOptions) {
    super();
    this.addClass('da-nb-changes');
    this.node.dataset.testid = 'da-document-changes';
    this.node.setAttribute('role', 'group');
    this.node.setAttribute(
      'aria-label',
      'Changes by the agent in this document'
    );
  }

  /** Show something else. */
  set options(options: IDocumentBarOptions) {
    this._options = options;
    this.update();
  }

  protected render(): JSX.Element {
    const { turn, count, openPanel, move } = this._options;
    const { keep, undo, showDiff } = this._options;
    const { session, conflicts } = turn;
    const running = isRunning(session);
    return (
      <ChangeBar
        label={
          conflicts
            ? 'Changed by you, too: decide in the panel'
            : `${labelOf(count)}${running ? ' so far' : ''}`
        }
        className="da-nb-button"
        testId={act => `da-document-${act}`}
        isLocked={running || conflicts > 0}
        isBusy={!running && !canDecide(session)}
        keep={keep}
        undo={undo}
        showDiff={showDiff}
        before={
          conflicts > 0 && (
            <Choice
              label="Decide"
              title="Decide in the panel which text to keep"
              act={openPanel}
            />
          )
        }
        after={
          <>
            <Choice
              label="←"
              name="Previous changed block"
              title="Previous changed block (Alt+Shift+F5)"
              isDisabled={!count}
              act={() => move(-1)}
            />
            <Choice
              label="→"
              name="Next changed block"
              title="Next changed block (Alt+F5)"
              isDisabled={!count}
              act={() => move(1)}
            />
          </>
        }
      />
    );
  }
}

function labelOf(count: number): string {
  return count
    ? `${count} ${count === 1 ? 'block' : 'blocks'} changed`
    : 'Changed by the agent';
}
