import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { shootBoth } from '../support/screenshots';

test('an action that an inline chat proposes is filled in, refined and run there', async ({
  lab,
  model
}) => {
  const { page } = lab;
  const chat = new InlineChat(lab);
  await lab.notebook('cars.ipynb').ready();
  await page.locator('.jp-Notebook .jp-Cell').first().click();
  await chat.open();
  await chat.ask('/help data');
  await expect(chat.root).toContainText('Convert a data file');
  await shootBoth(lab, 'inline-help', 'window');
  await model.script({
    say: JSON.stringify({ notebook: null, format: null })
  });
  await chat.ask('/notebook export it please');
  const card = chat.root.getByTestId('da-proposal');
  await expect(card).toContainText('Needed');
  await shootBoth(lab, 'inline-proposal', 'window');

  await card.getByRole('button', { name: 'Fill in and run…' }).click();
  const form = chat.root.getByTestId('da-action-form');
  await expect(form.getByLabel('Format')).toBeFocused();
  // Neither a command of the notebook nor the end of the chat.
  await page.keyboard.press('d');
  await page.keyboard.press('d');
  await page.keyboard.press('Escape');
  await expect(form).toHaveCount(0);
  await expect(card).toBeVisible();
  await expect(page.locator('.jp-Notebook .jp-Cell')).toHaveCount(1);

  await model.script({
    say: JSON.stringify({
      notebook: null,
      format: { value: 'html', source: 'a web page' }
    })
  });
  await chat.input.focus();
  await chat.ask('as a web page');
  await expect(card).toContainText('HTML from “a web page”');
  await card.getByRole('button', { name: 'Export the notebook' }).click();
  await shootBoth(lab, 'inline-action-form', 'window');
  await form.getByRole('button', { name: 'Run' }).click();
  const result = chat.root.getByTestId('da-action-result');
  await expect(result).toContainText(/Exported .*cars\.ipynb to/);
  await expect(card.getByRole('button', { name: 'Run again…' })).toBeVisible();
  await shootBoth(lab, 'inline-action-result', 'window');
  await result.getByRole('button', { name: /cars\.html$/ }).click();
  await expect(page.getByRole('tab', { name: 'cars.html' })).toBeVisible();

  // What goes wrong is said in the chat, and the form can be opened again.
  await lab.open('cars.ipynb');
  await card.getByRole('button', { name: 'Run again…' }).click();
  await form.getByRole('button', { name: 'Run' }).click();
  await expect(chat.root.getByRole('alert')).toContainText(
    'Give another name, or delete it.'
  );
  await expect(chat.input).toHaveValue('');
  await expect(card.getByRole('button')).toBeEnabled();
});
