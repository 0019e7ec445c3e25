import { Widget } from '@lumino/widgets';

import { IFailure } from '../notebook/kernel/failure';

/** What the buttons of an error do. */
export interface IErrorActs {
  fix(): void;
  fixAndRun(): void;
  explain(): void;
}

/** The buttons under the output of a cell that failed. */
export class ErrorBar extends Widget {
  constructor({ name }: IFailure, acts: IErrorActs) {
    super();
    this.addClass('da-error-bar');
    this.node.dataset.testid = 'da-error-bar';
    this.node.setAttribute('role', 'group');
    const label = name === 'Error' ? 'Error' : `Error: ${name}`;
    this.node.setAttribute('aria-label', label);
    this._hint.className = 'da-error-hint';
    this._hint.dataset.testid = 'da-error-hint';
    this._hint.setAttribute('role', 'status');
    this.node.append(
      button('Fix', 'Propose a fix as a diff', 'da-fix', acts.fix),
      button(
        'Fix and run',
        'Fix and run, up to three times',
        'da-fix-run',
        acts.fixAndRun
      ),
      button('Explain', 'Explain this error', 'da-explain', acts.explain),
      this._hint
    );
    for (const type of ['mousedown', 'dblclick']) {
      // The notebook would drag the cell, or take the keyboard.
      this.node.addEventListener(type, event => event.stopPropagation());
    }
  }

  /** A hint on what would help; empty for none. */
  hint(text: string): void {
    this._hint.textContent = text;
  }

  private readonly _hint = document.createElement('span');
}

function button(
  label: string,
  title: string,
  testId: string,
  act: () => void
): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'da-error-button';
  element.textContent = label;
  element.title = title;
  element.dataset.testid = testId;
  // Enter and the space bar are the button's, not the notebook's.
  element.dataset.lmSuppressShortcuts = 'true';
  element.addEventListener('click', act);
  return element;
}
