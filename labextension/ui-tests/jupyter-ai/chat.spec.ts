import { Locator, Page } from '@playwright/test';

import { expect, test } from '../support/fixtures';
import { shoot, shootBoth } from '../support/screenshots';

test.use({
  environment: { JUPYTER_PATH: process.env.JUPYTER_AI_SHARE ?? '' },
  keepsTab: false
});

/** A chat of Jupyter AI. */
class ChatPage {
  constructor(private readonly _page: Page) {
    this.root = _page.locator('.jp-chat-widget');
    this.input = this.root.getByPlaceholder('Type a chat message');
    this.replies = this.root.locator('.jp-chat-rendered-message');
  }

  readonly root: Locator;
  readonly input: Locator;
  readonly replies: Locator;

  /** Attach a file of a folder. */
  async attach(folder: string, name: string): Promise<void> {
    await this.root.locator('.jp-chat-attach-button').click();
    const dialog = this._page.locator('.jp-Dialog');
    await dialog.getByText(folder, { exact: true }).dblclick();
    await dialog.getByText(name, { exact: true }).click();
    await dialog.getByRole('button', { name: 'Select' }).click();
  }

  async say(text: string): Promise<void> {
    await this.input.fill(text);
    await this.input.press('Enter');
  }
}

test('the persona works in a chat, beside the panel', async ({
  tab,
  server,
  model
}) => {
  const { page, panel } = tab;
  const chat = new ChatPage(page);
  const notebook = tab.notebook('cars.ipynb');
  await server.text(`${tab.folder}/notes.chat`, '{}');
  await tab.load('cars.ipynb');
  await notebook.ready();
  await tab.open('notes.chat');
  await expect(chat.root.getByTitle('Choose which persona')).toContainText(
    'Datalayer'
  );

  await model.script(
    { call: 'getNotebookCells' },
    {
      call: 'addNotebookCell',
      arguments: { type: 'code', content: '6 * 7', run: true }
    },
    {
      call: 'deleteNotebookCells',
      arguments: { cellIds: [{ cell: '# Cars' }] }
    },
    { say: 'Added a cell; the heading is gone.' }
  );
  await chat.attach(tab.folder, 'cars.ipynb');
  await chat.say('@Datalayer compute it, and drop the heading');
  await expect(chat.root).toContainText('Approval needed: Deletes 1 cell');
  await shoot(tab, 'jupyter-ai-approval', 'window');
  await chat.say('approve');
  await expect(chat.root).toContainText('Added a cell; the heading is gone.');
  await expect(chat.root).toContainText('Approved by');
  await shootBoth(tab, 'jupyter-ai-done', 'window');

  // The open notebook shows it, with its marks, and the panel lists the conversation.
  await tab.open('cars.ipynb');
  await expect(notebook.cells).toHaveCount(1);
  await expect(notebook.cells.first()).toContainText('42');
  await shoot(tab, 'jupyter-ai-notebook', 'window');

  // The panel works as ever, in a session of its own.
  await model.script({ say: 'Here I am, too.' });
  await panel.send('Hello');
  await expect(panel.turns.last()).toContainText('Here I am, too.');
});
