import { expect, Locator } from '@playwright/test';

import { LabPage } from './lab';

/** The inline chat of the active document, by the names that it promises to tests (DESIGN 10). */
export class InlineChat {
  constructor(private readonly _lab: LabPage) {
    const { page } = _lab;
    this.root = page.getByTestId('da-inline');
    this.input = page.getByTestId('da-inline-input');
    this.accept = page.getByTestId('da-inline-accept');
    this.reject = page.getByTestId('da-inline-reject');
    this.answer = page.getByTestId('da-inline-answer');
    this.added = page.locator('.da-added');
    this.addedLines = page.locator('.da-added-line');
    this.removedLines = page.locator('.da-removed-line');
    this.newCells = page.locator('.da-new-cell');
  }

  readonly root: Locator;
  readonly input: Locator;
  readonly accept: Locator;
  readonly reject: Locator;
  readonly answer: Locator;
  readonly added: Locator;
  readonly addedLines: Locator;
  readonly removedLines: Locator;
  readonly newCells: Locator;

  /** Open it where the user is, by its keys. */
  async open(): Promise<void> {
    await this._lab.page.keyboard.press('Control+i');
    await expect(this.input).toBeFocused();
  }

  /** Type a message and send it, by keys. */
  async ask(message: string): Promise<void> {
    await this._lab.page.keyboard.type(message);
    await this._lab.page.keyboard.press('Enter');
  }
}
