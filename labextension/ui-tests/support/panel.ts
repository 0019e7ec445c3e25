import { expect, Locator, Page } from '@playwright/test';

export type Mode = 'ask' | 'edit' | 'agent';

/** The agent's panel, by the names that it promises to tests (DESIGN 10). */
export class AgentPanel {
  constructor(page: Page) {
    this.root = page.getByTestId('da-panel');
    this.input = this.root.getByTestId('da-input');
    this.sendButton = this.root.getByTestId('da-send');
    this.stopButton = this.root.getByTestId('da-stop');
    this.toolCalls = this.root.getByTestId('da-tool-call');
    this.attachments = this.root.getByTestId('da-attachment');
    this.changes = this.root.getByTestId('da-changes');
    this.answers = this.messages('assistant');
    this.waiting = this.root.locator('.da-waiting');
    this.turns = this.root.locator('[data-turn]');
  }

  readonly root: Locator;
  readonly input: Locator;
  readonly sendButton: Locator;
  readonly stopButton: Locator;
  readonly toolCalls: Locator;
  readonly attachments: Locator;
  readonly changes: Locator;
  readonly answers: Locator;
  /** What waits for the user: approvals and questions. */
  readonly waiting: Locator;
  readonly turns: Locator;

  messages(role: 'user' | 'assistant'): Locator {
    return this.root.locator(`[data-testid="da-message"][data-role="${role}"]`);
  }

  /** Attach an open notebook by the paperclip's menu. */
  async attach(name: string): Promise<void> {
    await this.root.getByTestId('da-attach').click();
    await this.root.getByRole('menuitem', { name }).first().click();
    await expect(this.attachments.filter({ hasText: name })).toBeVisible();
  }

  async mode(mode: Mode): Promise<void> {
    await this.root.getByTestId('da-mode-select').selectOption(mode);
  }

  /** Send a message with the button. */
  async send(message: string): Promise<void> {
    await this.input.fill(message);
    await this.sendButton.click();
  }

  /** Approve what is asked about. */
  async approve(): Promise<void> {
    await this.waiting
      .getByRole('button', { name: 'Approve', exact: true })
      .click();
  }

  /** Wait until the newest turn, the `count`th, has ended. */
  async ended(
    count = 1,
    status: 'completed' | 'aborted' = 'completed'
  ): Promise<void> {
    await expect(this.turns).toHaveCount(count);
    await expect(this.turns.last()).toHaveAttribute('data-status', status, {
      timeout: 45_000
    });
  }

  /** Send a message and wait for the end of its turn, the `count`th. */
  async ask(message: string, count = 1): Promise<void> {
    await this.send(message);
    await this.ended(count);
  }
}
