import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { shootBoth } from '../support/screenshots';

const SOURCE = 'a = 1\nb = 2\nc = 3\nd = 4\ne = 5';

/** A tagged block for a cell. */
function proposal(cellId: string, source: string, more = ''): string {
  return `Here it is.\n\n\`\`\`python cell=${cellId}\n${source}\n\`\`\`\n${more}`;
}

test('a change streams as a diff, is taken hunk by hunk, and is undone in one step', async ({
  tab,
  model,
  server
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/inline.ipynb`, [
    { source: SOURCE, id: 'first' },
    { source: 'print(a)', id: 'second' }
  ]);
  await tab.load('inline.ipynb');
  const notebook = tab.notebook('inline.ipynb');
  await notebook.ready();
  const chat = new InlineChat(tab);

  // Nothing is written while it streams, and the user goes on typing in the same cell.
  await model.script({
    gate: {
      say: proposal('first', 'a = 10\nb = 2\nc = 3\nd = 4\ne = 50'),
      chunk: 6
    },
    after: 8
  });
  await notebook.edit(0);
  await chat.open();
  await chat.ask('Ten times the ends');
  await model.atGate();
  await expect(chat.addedLines.first()).toContainText('a = 1');
  expect((await notebook.sources())[0]).toBe(SOURCE);
  await notebook.edit(0);
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('End');
  await page.keyboard.type('  # mine');
  await shootBoth(tab, 'inline-streaming', 'window');
  await model.release();
  await expect(chat.accept).toBeVisible();
  await expect(chat.removedLines).toHaveText(['a = 1', 'e = 5']);
  await expect(chat.addedLines).toHaveText(['a = 10', 'e = 50']);
  const request = await model.request(1);
  expect(request.toolNames).toContain('getNotebookCells');
  expect(request.toolNames).not.toContain('updateNotebookCell');
  expect(request.text).toContain('id=first');
  await shootBoth(tab, 'inline-change', 'window');

  // One is accepted, one rejected; what the user typed stays.
  await chat.added.nth(1).getByRole('button', { name: 'Accept' }).click();
  await chat.added.first().getByRole('button', { name: 'Reject' }).click();
  const typed = SOURCE.replace('c = 3', 'c = 3  # mine');
  await expect
    .poll(async () => (await notebook.sources())[0])
    .toBe(typed.replace('e = 5', 'e = 50'));
  await shootBoth(tab, 'inline-decided', 'window');
  await page.keyboard.press('Escape');
  await notebook.edit(0);
  await page.keyboard.press('Control+z');
  await expect.poll(async () => (await notebook.sources())[0]).toBe(typed);
  await shootBoth(tab, 'inline-undone', 'window');
});

test('a change behind thinking is a diff, also where its opening mark is missing', async ({
  tab,
  model,
  server
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/thinking.ipynb`, [
    { source: SOURCE, id: 'first' }
  ]);
  await tab.load('thinking.ipynb');
  const notebook = tab.notebook('thinking.ipynb');
  await notebook.ready();
  const chat = new InlineChat(tab);
  const plan = 'Secret plan:\n```python\nwrong = 1\n```';
  for (const opening of ['', '<think>\n']) {
    const changed = proposal('first', 'a = 10\nb = 2\nc = 3\nd = 4\ne = 5');
    await model.script({
      say: `${opening}${plan}\n</think>\n\n${changed}`,
      chunk: 5
    });
    await notebook.edit(0);
    await chat.open();
    await chat.ask('Ten times the first');
    await expect(chat.accept).toBeVisible();
    await expect(chat.addedLines).toHaveText(['a = 10']);
    await expect(chat.removedLines).toHaveText(['a = 1']);
    await expect(chat.root).not.toContainText('wrong');
    await chat.reject.click();
    await expect(chat.added).toHaveCount(0);
    expect((await notebook.sources())[0]).toBe(SOURCE);
    await page.keyboard.press('Escape');
  }
});

test('keys and buttons keep to the proposal, and lines of one’s own stay', async ({
  tab,
  model,
  server
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/own.ipynb`, [
    { source: SOURCE, id: 'first' }
  ]);
  await tab.load('own.ipynb');
  const notebook = tab.notebook('own.ipynb');
  await notebook.ready();
  const chat = new InlineChat(tab);
  await model.script(
    {
      gate: {
        say: proposal('first', 'a = 10\nb = 2\nc = 3\nd = 4\ne = 50'),
        chunk: 6
      },
      after: 8
    },
    { say: proposal('first', 'a = 11\nb = 2\nc = 33\nd = 4\ne = 51\n# mine') }
  );
  await notebook.edit(0);
  await chat.open();
  await chat.ask('Ten times the ends');
  await model.atGate();
  await notebook.type(0, '\n# mine');
  await model.release();
  await expect(chat.accept).toBeVisible();
  await expect(chat.removedLines).toHaveText(['a = 1', 'e = 5']);
  const own = `${SOURCE}\n# mine`;

  // In the editor too, the key goes to the next change, and moves no line.
  await notebook.edit(0);
  await page.keyboard.press('Control+Home');
  await expect(chat.root).toContainText('1 of 2');
  await page.keyboard.press('Alt+ArrowDown');
  await expect(chat.root).toContainText('2 of 2');
  await page.keyboard.press('Alt+ArrowUp');
  await expect(chat.root).toContainText('1 of 2');
  expect(await notebook.sources()).toEqual([own]);

  // A line that was typed in is left, nothing is run, and both is said.
  await page.keyboard.type('# ');
  await page.keyboard.press('Control+Shift+Enter');
  await expect(chat.root).toContainText('Nothing was run.');
  await expect(chat.accept).toHaveAttribute('aria-disabled', 'true');
  const left = `# ${own.replace('e = 5', 'e = 50')}`;
  expect(await notebook.sources()).toEqual([left]);
  await shootBoth(tab, 'inline-own-line', 'window');

  // The keys of the page work in the box, those of the notebook do not.
  await chat.input.focus();
  expect(await notebook.isDirty()).toBe(true);
  await page.keyboard.press('Control+s');
  await expect.poll(() => notebook.isDirty()).toBe(false);
  await page.getByTestId('da-inline-accept-one').focus();
  await page.keyboard.press('b');
  expect(await notebook.sources()).toEqual([left]);

  // The buttons of each change go with the second but last one; the keyboard does not, also where
  // that is decided by the mouse, on a button of the change's own.
  await chat.input.focus();
  await chat.ask('Eleven times');
  await expect(chat.root).toContainText('1 of 3');
  await page.getByTestId('da-inline-accept-one').press('Enter');
  await expect(page.getByTestId('da-inline-accept-one')).toBeFocused();
  await chat.added.first().getByRole('button', { name: 'Reject' }).click();
  await expect(chat.input).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(chat.root).toHaveCount(0);
  await expect(notebook.editor(0)).toBeFocused();
  expect(await notebook.sources()).toEqual([left.replace('# a = 1', 'a = 11')]);
});

test('questions, other cells, new cells, Markdown, a selection and an empty cell, by keys alone', async ({
  tab,
  model,
  server
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/many.ipynb`, [
    { source: '# Title', type: 'markdown', id: 'title' },
    { source: 'x = 1\ny = 2', id: 'first' },
    { source: '', id: 'empty' }
  ]);
  await tab.load('many.ipynb');
  const notebook = tab.notebook('many.ipynb');
  await notebook.kernelReady();
  const chat = new InlineChat(tab);

  // A question is answered in place, about what is selected; Escape goes back to the cursor.
  await model.script({ say: 'It is **one**.' });
  await notebook.edit(1);
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+End');
  await chat.open();
  await chat.ask('What is it?');
  await expect(chat.answer.locator('strong')).toHaveText('one');
  expect((await model.request(1)).text).toContain(
    'Selected in it, and what is meant:\n```\nx = 1\n```'
  );
  await shootBoth(tab, 'inline-question', 'window');
  await page.keyboard.press('Escape');
  await expect(chat.root).toHaveCount(0);
  await expect(notebook.editor(1)).toBeFocused();

  // This cell, another one and two new ones; a further message refines them; all as one step.
  await model.script(
    { say: proposal('first', 'x = 10\ny = 2') },
    {
      say: proposal(
        'first',
        'x = 100\ny = 2',
        '\n````markdown cell=title\n# Numbers\n````\n```python after=first\nprint(x)\n```\n```markdown after=first\nThat was it.\n```\n'
      )
    }
  );
  await chat.open();
  await chat.ask('Ten times');
  await expect(chat.addedLines).toHaveText(['x = 10']);
  await expect(chat.accept).toBeVisible();
  await chat.ask('No, a hundred times');
  await expect(chat.newCells).toHaveCount(2);
  await expect(chat.accept).toBeVisible();
  await expect(chat.addedLines).toHaveText([
    '# Numbers',
    'x = 100',
    'print(x)',
    'That was it.'
  ]);
  const before = await notebook.sources();
  await shootBoth(tab, 'inline-several', 'window');
  await chat.input.focus();
  await page.keyboard.press('Control+Shift+Enter');
  const after = ['# Numbers', 'x = 100\ny = 2', 'print(x)', 'That was it.', ''];
  await expect.poll(() => notebook.sources()).toEqual(after);
  await expect(notebook.output(2)).toHaveText('100');
  await notebook.undo();
  await expect.poll(() => notebook.sources()).toEqual(before);

  // An empty cell is written; Escape in the input leaves everything as it was.
  await model.script({ say: proposal('empty', 'z = 3') });
  await notebook.edit(2);
  await chat.open();
  await chat.ask('Three');
  await expect(chat.accept).toBeVisible();
  await shootBoth(tab, 'inline-generate', 'window');
  await page.keyboard.press('Escape');
  await expect(chat.addedLines).toHaveCount(0);
  expect(await notebook.sources()).toEqual(before);
  await shootBoth(tab, 'inline-escaped', 'window');

  // All of it is one conversation in the list of sessions.
  const { sessions } = await server.api<{
    sessions: { title: string; turnCount?: number }[];
  }>('datalayer-agent/sessions');
  expect(
    sessions.filter(({ title }) => title === 'Inline chat in many.ipynb')
  ).toHaveLength(1);
});

test('one plain block is a diff where a change was asked for, and code with buttons where not', async ({
  tab,
  model,
  server
}) => {
  const { page } = tab;
  await server.notebook(`${tab.folder}/plain.ipynb`, [
    { source: SOURCE, id: 'first' },
    { source: '', id: 'empty' }
  ]);
  await tab.load('plain.ipynb');
  const notebook = tab.notebook('plain.ipynb');
  await notebook.kernelReady();
  const chat = new InlineChat(tab);
  const fence = (source: string, info = 'python') =>
    `\`\`\`${info}\n${source}\n\`\`\``;
  const changed = SOURCE.replace('a = 1', 'a = 10');
  const apply = page.getByTestId('da-code-apply');

  // As it streams it may still become an example; when it is over it is a diff, and nothing else.
  await model.script({ gate: { say: fence(changed), chunk: 6 }, after: 4 });
  await notebook.edit(0);
  await chat.open();
  await chat.ask('Ten times the first');
  await model.atGate();
  await expect(chat.answer).toContainText('a = 10');
  await expect(chat.added).toHaveCount(0);
  await model.release();
  await expect(chat.accept).toBeVisible();
  await expect(chat.addedLines).toHaveText(['a = 10']);
  await expect(chat.answer).toHaveCount(0);
  await page.keyboard.press('Control+Enter');
  await expect.poll(async () => (await notebook.sources())[0]).toBe(changed);

  // It says that no changes are needed.
  await model.script({ say: fence(changed) });
  await chat.open();
  await chat.ask('Ten times the first');
  await expect(chat.root).toContainText('No changes needed');
  await expect(chat.accept).toHaveCount(0);

  // Of a selection, that alone is replaced.
  await page.getByTestId('da-inline-close').click();
  await model.script({ say: fence('bb = 2\nbbb = 2', '') });
  await notebook.edit(0);
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Shift+End');
  await chat.open();
  await chat.ask('More of it');
  await expect(chat.removedLines).toHaveText(['b = 2']);
  await expect(chat.addedLines).toHaveText(['bb = 2', 'bbb = 2']);
  await chat.reject.click();

  // An example in the answer to a question is code with buttons.
  await model.script({ say: fence('print(1)') });
  await notebook.edit(0);
  await page.keyboard.press('Control+Home');
  await chat.open();
  await chat.ask('How do I print?');
  await expect(chat.answer).toContainText('print(1)');
  await expect(apply).toBeVisible();
  await expect(chat.added).toHaveCount(0);

  // So is code with prose around it, and code in another language, which cannot be applied.
  await model.script({
    say: `Like this:\n\n${fence(`${changed}\nf = 6`)}\n\nOr so:\n\n${fence('ls', 'bash')}`
  });
  await chat.input.focus();
  await chat.ask('Add f');
  await expect(apply).toHaveCount(2);
  await expect(apply.nth(1)).toHaveAttribute('aria-disabled', 'true');
  await expect(apply.nth(1)).toHaveAttribute('title', /bash/);
  await expect(chat.added).toHaveCount(0);
  await shootBoth(tab, 'inline-code', 'window');
  await apply.first().press('Enter');
  await expect(chat.addedLines).toHaveText(['f = 6']);
  await page.getByTestId('da-code-below').first().click();
  const withCell = [changed, `${changed}\nf = 6`, ''];
  await expect.poll(() => notebook.sources()).toEqual(withCell);
  await page.getByTestId('da-code-above').nth(1).click();
  await expect.poll(() => notebook.sources()).toEqual(['ls', ...withCell]);
  await chat.input.focus();
  await page.keyboard.press('Control+Enter');
  await expect
    .poll(async () => (await notebook.sources())[1])
    .toBe(`${changed}\nf = 6`);
  await expect(chat.root).toHaveCount(0);

  // An empty cell is written.
  await model.script({ say: fence('z = 3') });
  await notebook.edit(3);
  await chat.open();
  await chat.ask('z is three');
  await expect(chat.addedLines).toHaveText(['z = 3']);
  await page.keyboard.press('Control+Enter');
  await expect.poll(async () => (await notebook.sources())[3]).toBe('z = 3');
});

test('a chat goes with its cell wherever that goes, and Escape leaves it for later', async ({
  tab,
  model,
  server
}) => {
  const { page } = tab;
  const path = `${tab.folder}/moved.ipynb`;
  await server.notebook(path, [
    { source: SOURCE, id: 'first' },
    { source: '# Notes', type: 'markdown', id: 'notes' },
    { source: 'z = 1', id: 'last' }
  ]);
  await tab.load('moved.ipynb');
  const notebook = tab.notebook('moved.ipynb');
  await notebook.ready();
  const chat = new InlineChat(tab);
  const changed = SOURCE.replace('a = 1', 'a = 10').replace('e = 5', 'e = 50');
  await model.script({ say: proposal('first', changed) });
  await notebook.edit(0);
  await chat.open();
  await chat.ask('Ten times the ends');
  await expect(chat.accept).toBeVisible();
  await page.keyboard.type('And then');
  /** The whole chat is on the cell, at this place or wherever that is. */
  const isOn = async (index: number | null, typed = 'And then') => {
    await expect(chat.root).toHaveCount(1);
    const cell = notebook.cells.filter({ has: chat.root });
    await expect(cell.getByTestId('da-inline-input')).toHaveValue(typed);
    await expect(cell.locator('.da-removed-line')).toHaveText([
      'a = 1',
      'e = 5'
    ]);
    await expect(cell.getByTestId('da-inline-accept')).toBeVisible();
    if (index !== null) {
      expect(await notebook.sources()).toHaveLength(3);
      expect((await notebook.sources()).indexOf(SOURCE)).toBe(index);
    }
  };
  const command = (id: string) =>
    page.evaluate(id => window.jupyterapp.commands.execute(id), id);

  await command('notebook:move-cell-down');
  await isOn(1);
  // By the agent, or by another program.
  await server.api('datalayer-agent/tools/moveNotebookCell', 'POST', {
    path,
    arguments: { cellId: 'first', position: 'end' }
  });
  await isOn(2);
  await command('notebook:undo-cell-action');
  await isOn(1);
  // With the mouse.
  await notebook.cells.first().scrollIntoViewIfNeeded();
  const from = (await notebook.prompt(1).boundingBox())!;
  const to = (await notebook.cells.first().boundingBox())!;
  await page.mouse.move(from.x + from.width / 2, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(to.x + 30, to.y + to.height - 2, { steps: 5 });
  await page.mouse.move(to.x + 30, to.y + to.height / 2, { steps: 5 });
  await page.mouse.up();
  await isOn(0);
  await command('notebook:change-cell-to-markdown');
  await isOn(0);
  await command('notebook:change-cell-to-raw');
  await isOn(0);
  // One step, or several that followed each other at once.
  await command('notebook:undo-cell-action');
  await isOn(null);
  const cell = notebook.cells.filter({ has: chat.root });
  await cell.locator('.jp-InputPrompt').click();
  await command('notebook:change-cell-to-code');
  await isOn(null);
  await cell.locator('.jp-InputPrompt').click();
  await command('notebook:delete-cell');
  await expect(chat.root).toHaveCount(0);
  await command('notebook:undo-cell-action');
  await isOn(null);
  // With the deletion, the change of type is taken back if it was made less than 500 ms before it.
  await cell.locator('.jp-InputPrompt').click();
  await command('notebook:change-cell-to-code');
  await isOn(null);
  await shootBoth(tab, 'inline-moved', 'window');
  const at = (await notebook.sources()).indexOf(SOURCE);

  // Escape leaves it, Ctrl+I in the cell shows it again; also after a reload.
  await chat.input.focus();
  await page.keyboard.press('Escape');
  await expect(chat.root).toHaveCount(0);
  await expect(chat.added).toHaveCount(0);
  expect((await notebook.sources())[at]).toBe(SOURCE);
  await notebook.edit(at);
  await chat.open();
  await isOn(at);
  await page.keyboard.type(' this');
  // In the editor, too.
  await notebook.edit(at);
  await page.keyboard.press('Escape');
  await expect(chat.root).toHaveCount(0);
  await command('docmanager:save');
  await tab.leave();
  await tab.open('moved.ipynb');
  await notebook.ready();
  await expect(notebook.cells).toHaveCount(3);
  await notebook.edit(at);
  await expect(chat.root).toHaveCount(0);
  await chat.open();
  await isOn(at, 'And then this');
  await page.keyboard.press('Control+Enter');
  await expect.poll(async () => (await notebook.sources())[at]).toBe(changed);
  await expect(chat.root).toHaveCount(0);
  await chat.open();
  await expect(chat.input).toHaveValue('');
});

test('over a proposal that is higher than the window, what decides on it stays in view', async ({
  tab,
  model,
  server
}) => {
  const lines = Array.from({ length: 120 }, (_, index) => `import x${index}`);
  const end = ['f(', '    "a"', ')'];
  await server.notebook(`${tab.folder}/high.ipynb`, [
    { source: 'y = 0', id: 'before' },
    { source: [...lines, ...end].join('\n'), id: 'first' }
  ]);
  await tab.load('high.ipynb');
  const notebook = tab.notebook('high.ipynb');
  await notebook.ready();
  const chat = new InlineChat(tab);
  const changed = [
    ...lines.slice(0, 100).map(line => line.replace('x', 'z')),
    ...lines.slice(100, 118),
    'import z118',
    'import x119',
    ...end,
    ...lines.map(line => line.replace('x', 'y'))
  ];
  await model.script({
    gate: { say: proposal('first', changed.join('\n')), chunk: 40 },
    after: 15
  });
  await notebook.edit(1);
  await chat.open();
  await chat.ask('The other one');
  await model.atGate();
  await expect(chat.input).toBeInViewport({ ratio: 1 });
  await model.release();
  await expect(chat.accept).toBeInViewport({ ratio: 1 });
  await shootBoth(tab, 'inline-high', 'window');
  // From one change to the next, the box and where the change begins are both to be seen.
  const firsts = [
    chat.removedLines.getByText('import x118'),
    chat.addedLines.getByText(/^import y0$/),
    chat.removedLines.getByText(/^import x0$/)
  ];
  for (const [index, first] of firsts.entries()) {
    if (index === 1) {
      // The user has looked at the middle of the next one.
      await chat.addedLines.getByText('import y60').scrollIntoViewIfNeeded();
    }
    await tab.page.keyboard.press('Alt+ArrowDown');
    await expect(chat.root).toContainText(`${[2, 3, 1][index]} of 3`);
    await expect(chat.accept).toBeInViewport({ ratio: 1 });
    await expect
      .poll(async () => {
        const [line, box] = [
          await first.boundingBox(),
          await chat.root.boundingBox()
        ];
        return line!.y >= box!.y + box!.height;
      })
      .toBe(true);
    await expect(first).toBeInViewport();
  }
  await shootBoth(tab, 'inline-high-first', 'window');
  await tab.page.keyboard.press('Escape');
});

test('a file is changed in its editor, and the first change shows soon after the model speaks', async ({
  tab,
  model,
  server
}) => {
  const { page } = tab;
  const path = `${tab.folder}/script.R`;
  await server.text(path, 'x <- 1\ny <- 2\n');
  await tab.load('script.R');
  const editor = page.locator('.jp-FileEditor .cm-content');
  await editor.click();
  const chat = new InlineChat(tab);
  await model.script({
    say: `\`\`\`r file=${path}\nx <- 10\ny <- 2\n\`\`\``,
    chunk: 400
  });
  await chat.open();
  await page.keyboard.type('Ten');
  const ms = await page.evaluate(
    () =>
      new Promise<number>(resolve => {
        const input = document.querySelector('.da-inline textarea')!;
        const started = performance.now();
        new MutationObserver((_, observer) => {
          if (document.querySelector('.da-added-line')) {
            observer.disconnect();
            resolve(performance.now() - started);
          }
        }).observe(document.body, { childList: true, subtree: true });
        input.dispatchEvent(
          new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })
        );
      })
  );
  console.log(`From Enter to the first changed line: ${ms.toFixed(0)} ms`);
  await expect(chat.accept).toBeInViewport({ ratio: 1 });
  await shootBoth(tab, 'inline-file', 'window');
  await editor.click();
  await page.keyboard.press('Control+Enter');
  await expect(chat.root).toHaveCount(0);
  await expect(editor).toContainText('x <- 10');
  await page.keyboard.press('Control+z');
  await expect(editor).not.toContainText('x <- 10');
});

test('the error of the cell is part of what a question is about', async ({
  tab,
  model,
  server
}) => {
  await server.notebook(`${tab.folder}/broken.ipynb`, [
    { source: 'int("tulip-7319")', id: 'broken' }
  ]);
  await tab.load('broken.ipynb');
  const notebook = tab.notebook('broken.ipynb');
  await notebook.kernelReady();
  await notebook.run(0);
  await expect(notebook.cells.first()).toContainText('ValueError');
  const chat = new InlineChat(tab);
  await model.script({ say: 'It is no number.' });
  await notebook.edit(0);
  await chat.open();
  await chat.ask('Why?');
  await expect(chat.answer).toHaveText('It is no number.');
  expect((await model.request(1)).text).toContain(
    'ValueError: invalid literal'
  );
});

test.describe('after a reload', () => {
  // JupyterLab would restore what the tests before had open.
  test.use({ keepsTab: false });

  test('a chat that was not closed outlives a reload, a kill -9 of the server, and its notebook', async ({
    tab,
    model,
    server
  }) => {
    const { page } = tab;
    await server.notebook(`${tab.folder}/back.ipynb`, [
      { source: SOURCE, id: 'first' },
      { source: '# Notes', type: 'markdown', id: 'notes' }
    ]);
    await tab.load('back.ipynb');
    const notebook = tab.notebook('back.ipynb');
    await notebook.ready();
    const chat = new InlineChat(tab);
    const answer = proposal('first', 'a = 10\nb = 2\nc = 3\nd = 4\ne = 50');
    await model.script(
      { gate: { say: answer, chunk: 6 }, after: 8 },
      { say: answer },
      { say: proposal('notes', '# More') }
    );
    await notebook.edit(0);
    await chat.open();
    await chat.ask('Ten times the ends');
    await model.atGate();
    await expect(chat.addedLines).toHaveText(['a = 10']);

    // What is typed and not sent comes back too, here and in a chat that was asked nothing.
    await page.keyboard.type('And then');
    await notebook.cells.nth(1).click();
    await page.keyboard.press('Control+i');
    await expect(chat.input.nth(1)).toBeFocused();
    await page.keyboard.type('Not yet');
    await page.waitForFunction(() =>
      JSON.stringify(sessionStorage).includes('Not yet')
    );
    await page.reload();
    await tab.shown();
    await notebook.ready();
    await expect(chat.input).toHaveCount(2);
    await expect(chat.input.first()).toHaveValue('And then');
    await expect(chat.input.nth(1)).toHaveValue('Not yet');
    await page.getByTestId('da-inline-close').nth(1).click();
    await expect(chat.root).toContainText('Ten times the ends');
    await expect(chat.root).toContainText('Writing');
    await expect(chat.addedLines).toHaveText(['a = 10']);
    await expect(chat.input).not.toBeFocused();

    await server.kill();
    await expect(chat.root).toContainText('Reconnecting');
    await tab.closeDialogs();
    await server.startAgain();
    await expect(chat.root).toContainText('Stopped: the server shut down.', {
      timeout: 40_000
    });
    await expect(chat.addedLines).toHaveText(['a = 10']);
    await shootBoth(tab, 'inline-cut-short', 'window');
    await chat.root.getByRole('button', { name: 'Try again' }).click();
    await expect(chat.addedLines).toHaveText(['a = 10', 'e = 50']);
    await expect(chat.root).toContainText('1 of 2');
    await chat.input.focus();

    // Of two chats, one half decided, what is undecided comes back with the notebook.
    await page.getByTestId('da-inline-accept-one').click();
    await notebook.type(0, '\n# mine');
    await notebook.cells.nth(1).click();
    await page.keyboard.press('Control+i');
    await expect(chat.input.nth(1)).toBeFocused();
    await chat.ask('More');
    await expect(chat.accept).toHaveCount(2);
    await expect(chat.root.nth(1)).not.toContainText('Accept and run');
    await page.evaluate(() =>
      window.jupyterapp.commands.execute('docmanager:save')
    );
    await tab.leave();
    await tab.open('back.ipynb');
    await notebook.ready();
    await expect(chat.accept).toHaveCount(2);
    await expect(chat.removedLines).toHaveText(['e = 5', '# Notes']);
    for (const input of [chat.input.first(), chat.input]) {
      await input.focus();
      await page.keyboard.press('Control+Enter');
      await expect(chat.root).not.toHaveCount(2);
    }
    const taken = SOURCE.replace('a = 1', 'a = 10').replace('e = 5', 'e = 50');
    expect(await notebook.sources()).toEqual([`${taken}\n# mine`, '# More']);
    await tab.leave();
    await tab.open('back.ipynb');
    await notebook.ready();
    await expect(chat.root).toHaveCount(0);
  });

  test('a chat above a text file comes back too, also when the file was renamed', async ({
    tab,
    model,
    server
  }) => {
    const { page, folder } = tab;
    const path = `${folder}/script.py`;
    await server.text(path, 'x = 1\ny = 2\nw = 3\nv = 5\nz = 3\n');
    await tab.load('script.py');
    const editor = page.locator('.jp-FileEditor .cm-content');
    await editor.click();
    const chat = new InlineChat(tab);
    await model.script(
      {
        say: `\`\`\`python file=${path}\nx = 10\ny = 2\nw = 4\nv = 5\nz = 30\n\`\`\``
      },
      { say: 'It is thirty.' }
    );
    await chat.open();
    await chat.ask('Ten times the ends');
    await expect(chat.addedLines).toHaveText(['x = 10', 'w = 4', 'z = 30']);
    // The second of three is rejected: it does not come back. While the answer is still being
    // written none is the current one, and the key goes to the first.
    await expect(chat.root).toContainText('1 of 3');
    await chat.input.press('Alt+ArrowDown');
    await expect(chat.root).toContainText('2 of 3');
    await page.getByTestId('da-inline-reject-one').click();
    await expect(chat.addedLines).toHaveText(['x = 10', 'z = 30']);
    await page.evaluate(
      ([from, to]) =>
        window.jupyterapp.serviceManager.contents.rename(from, to),
      [path, `${folder}/renamed.py`]
    );
    await expect(page.getByRole('tab', { name: 'renamed.py' })).toBeVisible();

    await page.reload();
    await tab.shown();
    await expect(chat.root).toContainText('Ten times the ends');
    await expect(chat.addedLines).toHaveText(['x = 10', 'z = 30']);
    await page.getByTestId('da-inline-accept-one').click();
    await expect(chat.addedLines).toHaveText(['z = 30']);
    await chat.ask('And z?');
    await expect(chat.root).toContainText('It is thirty.');
    // The same session, about the file as it is called now.
    const asked = await model.request(2);
    expect(asked.text).toContain('Ten times the ends');
    expect(asked.text).toContain('renamed.py');
    await chat.input.press('Escape');
    await expect(chat.root).toHaveCount(0);
    await page.reload();
    await tab.shown();
    await expect(editor).toContainText('z = 3');
    await expect(chat.root).toHaveCount(0);
  });
});
