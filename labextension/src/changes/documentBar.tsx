import { ReactWidget } from '@jupyterlab/apputils';
import React from 'react';

import { ChangeBar } from '../approvals/ChangeBar';
import { Choice } from './barChoice';
import type { IDocumentChanges } from './documentChanges';

/** What the bar of a document shows, and what its buttons do. */
export interface IDocumentBarOptions {
  /** "3 cells changed". */
  label: string;
  /** "2 earlier". */
  more?: string;
  /** What an undo left is decided on in the panel. */
  isLeft: boolean;
  /** A turn runs: nothing can be decided now. */
  isRunning: boolean;
  /** A decision is under way. */
  isBusy: boolean;
  showDiff: () => void;
  openPanel: () => void;
}

const NAMES = {
  notebook: { testId: 'da-nb', part: 'cell' },
  document: { testId: 'da-document', part: 'block' }
};

/** The bar at a document's top: what the agent changed, and the decision on it. */
export class DocumentBar extends ReactWidget {
  constructor(
    private readonly _kind: keyof typeof NAMES,
    private readonly _changes: IDocumentChanges,
    private _options: IDocumentBarOptions
  ) {
    super();
    this.addClass('da-nb-changes');
    this.node.dataset.testid = `${NAMES[_kind].testId}-changes`;
    this.node.setAttribute('role', 'group');
    this.node.setAttribute(
      'aria-label',
      `Changes by the agent in this ${_kind}`
    );
  }

  /** Show something else. */
  set options(options: IDocumentBarOptions) {
    this._options = options;
    this.update();
  }

  protected render(): JSX.Element {
    const { label, more, isLeft, isRunning, isBusy } = this._options;
    const { testId } = NAMES[this._kind];
    return (
      <ChangeBar
        label={label}
        more={more}
        className="da-nb-button"
        testId={act => `${testId}-${act}`}
        isLocked={isRunning || isLeft}
        isBusy={isBusy}
        keep={() => this._changes.keep()}
        undo={() => this._changes.undo()}
        showDiff={this._options.showDiff}
        before={
          isLeft && (
            <Choice
              label="Decide"
              title="Decide in the panel which text to keep"
              act={this._options.openPanel}
            />
          )
        }
        after={
          <>
            {this._move('←', 'Previous', 'Alt+Shift+F5', -1)}
            {this._move('→', 'Next', 'Alt+F5', 1)}
          </>
        }
      />
    );
  }

  private _move(
    label: string,
    which: string,
    keys: string,
    by: 1 | -1
  ): JSX.Element {
    const name = `${which} changed ${NAMES[this._kind].part}`;
    return (
      <Choice
        label={label}
        name={name}
        title={`${name} (${keys})`}
        isDisabled={!this._changes.hasMarks}
        act={() => void this._changes.move(by)}
      />
    );
  }
}
