import { ReactWidget } from '@jupyterlab/apputils';
import React from 'react';

import { ChangeBar } from '../approvals/ChangeBar';
import { Choice } from './barChoice';
import { pendingLabel, IPending } from './pending';

/** What the bar shows, and what its buttons do. */
export interface IBarOptions {
  pending: IPending;
  /** A turn runs: nothing can be decided now. */
  isRunning: boolean;
  /** A decision is under way. */
  isBusy: boolean;
  keep: () => void;
  undo: () => void;
  showDiff: () => void;
  /** Go to the next changed cell, or with -1 to the one before. */
  move: (by: 1 | -1) => void;
  /** What an undo left is decided on in the panel. */
  openPanel: () => void;
}

/** The bar at a notebook's top: what the agent changed, and the decision on it. */
export class NotebookBar extends ReactWidget {
  constructor(private _options: IBarOptions) {
    super();
    this.addClass('da-nb-changes');
    this.node.dataset.testid = 'da-nb-changes';
    this.node.setAttribute('role', 'group');
    this.node.setAttribute(
      'aria-label',
      'Changes by the agent in this notebook'
    );
  }

  /** Show something else. */
  set options(options: IBarOptions) {
    this._options = options;
    this.update();
  }

  protected render(): JSX.Element {
    const { pending, isRunning, isBusy } = this._options;
    const { keep, undo, showDiff, move, openPanel } = this._options;
    const { count, more } = pendingLabel(pending);
    const { changes, conflicts } = pending.turns[0];
    const isLeft = conflicts > 0 && conflicts >= changes.length;
    return (
      <ChangeBar
        label={
          isLeft
            ? `${conflicts === 1 ? '1 cell' : `${conflicts} cells`} changed since`
            : count
        }
        more={more}
        className="da-nb-button"
        testId={act => `da-nb-${act}`}
        isLocked={isRunning || isLeft}
        isBusy={isBusy}
        keep={keep}
        undo={undo}
        showDiff={showDiff}
        before={
          isLeft && (
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
              name="Previous changed cell"
              title="Previous changed cell (Alt+Shift+F5)"
              isDisabled={!pending.cells.size}
              act={() => move(-1)}
            />
            <Choice
              label="→"
              name="Next changed cell"
              title="Next changed cell (Alt+F5)"
              isDisabled={!pending.cells.size}
              act={() => move(1)}
            />
          </>
        }
      />
    );
  }
}
