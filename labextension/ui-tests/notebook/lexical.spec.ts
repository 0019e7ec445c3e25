import type { NotebookPanel } from '@jupyterlab/notebook';

import { expect, test } from '../support/fixtures';
import { LabPage, WINDOW } from '../support/lab';
import { pictures, shootBoth } from '../support/screenshots';

const text = (content: string, format = 0) => ({
  detail: 0,
  format,
  mode: 'normal',
  style: '',
  text: content,
  type: 'text',
  version: 1
});

const element = (type: string, children: object[], more: object = {}) => ({
  children,
  ...more,
  direction: null,
  format: '',
  indent: 0,
  type,
  version: 1
});

const input = (source: string, uuid: string) =>
  element(
    'jupyter-input',
    source
      .split('\n')
      .flatMap((line, index) => [
        ...(index ? [{ type: 'linebreak', version: 1 }] : []),
        { ...text(line), type: 'jupyter-input-highlight' }
      ]),
    { language: 'python', jupyterInputNodeUuid: uuid }
  );

const cell = (content: string, headerState: number) =>
  element('tablecell', [element('paragraph', [text(content)])], {
    headerState,
    colSpan: 1,
    rowSpan: 1
  });

const REPORT = {
  root: element('root', [
    element('heading', [text('Cars')], { tag: 'h1' }),
    element('paragraph', [
      text('Some '),
      text('bold', 1),
      text(' words, '),
      { equation: 'a^2 + b^2', inline: true, type: 'equation', version: 1 },
      text(', and '),
      text('code', 16),
      text('. '),
      element('link', [text('JupyterLab')], { url: 'https://jupyter.org' })
    ]),
    element(
      'list',
      [
        element('listitem', [text('read')], { checked: true, value: 1 }),
        element('listitem', [text('write')], { checked: false, value: 2 })
      ],
      { listType: 'check', start: 1, tag: 'ul' }
    ),
    element('quote', [text('<img src=x onerror="window.bad = true">')]),
    element('table', [
      element('tablerow', [cell('Car', 1), cell('Power', 1)]),
      element('tablerow', [cell('VW', 0), cell('46', 0)])
    ]),
    element(
      'code',
      [{ ...text('def f():\n    return 1'), type: 'code-highlight' }],
      {
        language: 'python'
      }
    ),
    input('x = 6 * 7\nx', 'one'),
    input(
      'from IPython.display import HTML\nHTML("<b>rich</b>" + str(x))',
      'two'
    ),
    { type: 'horizontalrule', version: 1 },
    { type: 'collapsible', version: 1, children: [text('kept')] }
  ])
};

interface IAnyNode {
  type: string;
  children?: object[];
}

async function nodes(tab: LabPage): Promise<IAnyNode[]> {
  const { content } = await tab.server.api<{ content: string }>(
    `api/contents/${tab.folder}/cars.dlex?format=text&type=file`
  );
  return (JSON.parse(content) as typeof REPORT).root.children as IAnyNode[];
}

/** Lexical learns of a key that moves the caret by an event that follows; a user is slower. */
function caretMoved(): Promise<unknown> {
  return new Promise(resolve =>
    requestAnimationFrame(() => requestAnimationFrame(resolve))
  );
}

/** Whether the current document has changes that are not saved. */
function isDirty(): boolean {
  const { context } = window.jupyterapp.shell.currentWidget as NotebookPanel;
  return context.model.dirty;
}

test('a Lexical document is shown, run, edited by the user and the agent, and undone', async ({
  tab,
  model
}) => {
  const { page, panel } = tab;
  const path = `${tab.folder}/cars.dlex`;
  await tab.server.text(path, JSON.stringify(REPORT));
  await tab.load('cars.dlex');
  const view = page.getByTestId('da-lexical');
  const blocks = page.getByTestId('da-lexical-block');
  await expect(blocks).toHaveCount(10);
  await expect(view.getByRole('heading', { name: 'Cars' })).toBeVisible();
  await expect(panel.root).toContainText('Suggestions for cars.dlex');
  await expect(panel.root).toContainText('Explain what this document says');
  await expect(view.locator('mjx-container, .katex').first()).toBeVisible();
  await expect(view.getByRole('checkbox').first()).toBeChecked();
  await expect(view.locator('th')).toHaveText(['Car', 'Power']);
  await expect(view).toContainText('which this view cannot show');
  await expect(view.locator('blockquote')).toContainText('<img src=x');
  expect(await page.evaluate(() => 'bad' in window)).toBe(false);

  // One block by its button, then all.
  await page.getByTestId('da-lexical-run').first().click();
  await expect(view.locator('.da-lex-outputs')).toHaveText(['42']);
  await page.getByRole('button', { name: 'Run All' }).click();
  await expect(view.locator('.da-lex-outputs')).toHaveText(['42', 'rich42']);
  await expect(page.locator('.jp-Toolbar-kernelName:visible')).toContainText(
    'Python'
  );
  const sessions = async () =>
    (await tab.server.api<{ path: string }[]>('api/sessions')).filter(
      each => each.path === path
    );
  // The page connects to the session of the server, and makes no other one.
  await expect.poll(sessions).toHaveLength(1);
  await shootBoth(tab, 'lexical', 'window');

  // The user edits text in Lexical's own editor; what it does not know (an equation) stays.
  // Not on the link in it.
  await blocks.nth(1).dblclick({ position: { x: 20, y: 10 } });
  const editor = page.getByTestId('da-lexical-rich');
  await expect(editor).toBeFocused();
  await expect(editor.locator('mjx-container, .katex')).toBeVisible();
  await page.keyboard.press('Control+Home');
  await page.evaluate(caretMoved);
  await page.keyboard.press('Control+B');
  await page.keyboard.type('Mine');
  await page.keyboard.press('Control+B');
  await page.keyboard.type(': ');
  await shootBoth(tab, 'lexical-editor', 'window');
  await editor.click();

  // The agent changes one block while the user edits another.
  await panel.mode('agent');
  await panel.root.getByTitle(/^Attach .*cars\.dlex so/).click();
  await expect(panel.root.getByTestId('da-attachment')).toContainText(
    'can edit'
  );
  await model.script(
    { call: 'readAllBlocks', arguments: {} },
    {
      call: 'insertBlocks',
      arguments: {
        index: 0,
        blocks: [
          { content: 'By the *agent*.' },
          { type: 'jupyter-input', content: 'x + 1' }
        ]
      }
    },
    { call: 'runAllBlocks', arguments: {} },
    { say: 'Done.' }
  );
  await panel.ask('Add a part');
  await expect(panel.toolCalls).toContainText([
    'Read 10 blocks',
    'Inserted 2 blocks',
    'Ran 3 blocks'
  ]);
  await expect(blocks).toHaveCount(12);
  await expect(blocks.first()).toContainText('By the agent.');
  await expect(blocks.nth(1)).toContainText('43');
  await expect(editor).toContainText('Mine: Some bold words');
  await editor.press('Control+Enter');
  await expect(editor).toHaveCount(0);
  await expect(blocks.nth(3)).toContainText('Mine: Some bold words');
  await expect(blocks.nth(3).locator('strong')).toHaveText(['Mine', 'bold']);

  // What it changed is marked at each block, and the arrows lead there.
  const bar = page.getByTestId('da-document-changes');
  await expect(bar).toContainText('2 blocks changed');
  await expect(panel.root.getByTestId('da-changes')).toContainText(
    '1 document changed'
  );
  const marks = view.getByTestId('da-mark');
  await expect(marks).toHaveCount(2);
  await expect(blocks.nth(1).getByTestId('da-mark')).toHaveAttribute(
    'title',
    'Added by the agent: “Add a part”'
  );
  await bar.getByRole('button', { name: 'Next changed block' }).click();
  await expect(blocks.nth(0)).toBeFocused();
  await page.keyboard.press('Alt+F5');
  await expect(blocks.nth(1)).toBeFocused();
  await page.keyboard.press('Alt+Shift+F5');
  await expect(blocks.nth(0)).toBeFocused();
  await shootBoth(tab, 'lexical-changed', 'window');
  await page.setViewportSize({ width: 1030, height: 800 });
  await shootBoth(tab, 'lexical-narrow', 'window');
  await page.setViewportSize(WINDOW);

  await bar.getByRole('button', { name: 'Undo' }).click();
  await expect(blocks).toHaveCount(10);
  await expect(bar).toHaveCount(0);
  await expect(blocks.nth(1)).toContainText('Mine: Some bold words');
  const isText = ({ type }: { type: string }) => type !== 'jupyter-output';
  const [heading, paragraph, ...others] = (await nodes(tab)).filter(isText);
  const was = REPORT.root.children as IAnyNode[];
  expect([heading, ...others]).toEqual([was[0], ...was.slice(2)]);
  expect(paragraph.children?.slice(2)).toEqual(was[1].children?.slice(1));
});

test('a kernel that ended is followed by another one, which the user may change', async ({
  tab
}) => {
  const { page, server } = tab;
  const path = `${tab.folder}/cars.dlex`;
  await server.text(path, JSON.stringify(REPORT));
  await tab.load('cars.dlex');
  const outputs = page.getByTestId('da-lexical').locator('.da-lex-outputs');
  const runAll = page.getByRole('button', { name: 'Run All' });
  const name = page.locator('.jp-Toolbar-kernelName:visible');
  const ofDocument = async () =>
    (
      await server.api<{ path: string; id: string; kernel: { id: string } }[]>(
        'api/sessions'
      )
    ).filter(each => each.path === path);
  const kernels = async () => [
    ...new Set((await ofDocument()).map(({ kernel }) => kernel.id))
  ];
  await expect(name).toContainText('No Kernel');
  await runAll.click();
  await expect(outputs).toHaveText(['42', 'rich42']);
  await expect(name).toContainText('Python');
  const [first] = await kernels();

  // Somebody shuts it down.
  for (const { id } of await ofDocument()) {
    await server.api(`api/sessions/${id}`, 'DELETE');
  }
  await expect(name).toContainText('No Kernel');
  await runAll.click();
  await expect(name).toContainText('Python');
  await expect.poll(kernels).toHaveLength(1);
  const [second] = await kernels();
  expect(second).not.toBe(first);

  // Two runs at once leave it in place.
  await runAll.click();
  await page.getByTestId('da-lexical-run').first().click();
  // The outputs of the run before stay until those of these come.
  await expect(page.getByTestId('da-lexical')).not.toHaveClass(
    /da-mod-running/
  );
  await expect(outputs).toHaveText(['42', 'rich42']);
  expect(await kernels()).toEqual([second]);

  // The user chooses one.
  await name.click();
  const dialog = page.locator('.jp-Dialog');
  await dialog.getByRole('combobox').selectOption('{"name":"python3"}');
  await dialog.getByRole('button', { name: 'Select Kernel' }).click();
  await expect(dialog).toHaveCount(0);
  await expect
    .poll(async () => (await kernels()).filter(each => each !== second))
    .toHaveLength(1);
  await expect(name).toContainText('Python');
});

test("a block that the agent changes while the user edits it is the user's choice, and no other", async ({
  tab,
  model
}) => {
  const { page, panel } = tab;
  const path = `${tab.folder}/cars.dlex`;
  await tab.server.text(path, JSON.stringify(REPORT));
  await tab.load('cars.dlex');
  const blocks = page.getByTestId('da-lexical-block');
  await expect(blocks).toHaveCount(10);
  await panel.mode('agent');
  await panel.root.getByTitle(/^Attach .*cars\.dlex so/).click();
  const editor = page.getByTestId('da-lexical-rich');
  const contest = page.getByTestId('da-lexical-contest');
  await blocks.nth(3).focus();
  await page.keyboard.press('Enter');
  await expect(editor).toBeFocused();
  await page.keyboard.type(' mine');
  // The ids are in what readAllBlocks gave.
  await model.script(
    { call: 'readAllBlocks', arguments: {} },
    {
      call: 'updateBlock',
      arguments: {
        blockId: { regex: '"id": ?"([^"]+)", ?"index": ?3' },
        content: "The agent's."
      }
    },
    {
      call: 'insertBlocks',
      arguments: { index: 0, blocks: [{ content: 'New.' }] }
    },
    { say: 'Done.' }
  );
  await panel.ask('Rewrite the quotation');
  await expect(contest).toContainText("The agent's.");
  await expect(editor).toContainText('mine');
  await expect(blocks).toHaveCount(11);
  await expect(blocks.first()).toContainText('New.');
  await shootBoth(tab, 'lexical-contested', 'window');
  // Nothing is saved before the choice.
  await editor.press('Control+Enter');
  await expect(
    contest.getByRole('button', { name: 'Keep Mine' })
  ).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(contest).toHaveCount(0);
  await expect(editor).toHaveCount(0);
  await expect(blocks.nth(4)).toContainText('mine');
  await expect(blocks.nth(4)).not.toContainText("The agent's.");

  // The undo of the turn leaves this block to the user, and takes the other one back.
  const bar = page.getByTestId('da-document-changes');
  await bar.getByRole('button', { name: 'Undo' }).click();
  await expect(blocks).toHaveCount(10);
  await expect(blocks.nth(3)).toContainText('mine');
  await expect(bar).toContainText('Changed by you, too');
  const conflict = panel.root.getByTestId('da-conflict');
  await expect(conflict).toContainText('A block of');
  await conflict.getByTestId('da-conflict-keep').click();
  await expect(bar).toHaveCount(0);

  // Another program changes the file: its other blocks are taken over.
  await blocks.nth(0).focus();
  await page.keyboard.press('Enter');
  await expect(editor).toBeFocused();
  await page.keyboard.type(' of mine');
  const { content } = await tab.server.api<{ content: string }>(
    `api/contents/${path}?format=text&type=file`
  );
  await tab.server.text(
    path,
    content.replace('"Cars"', '"Vans"').replace('"VW"', '"Fiat"')
  );
  await editor.press('Control+Enter');
  await expect(contest).toContainText('Vans');
  await expect(blocks.nth(4)).toContainText('Fiat');
  await contest.getByRole('button', { name: "Use the Agent's" }).click();
  await expect(blocks.nth(0).getByRole('heading')).toHaveText('Vans');
  // What was left can be had back for a moment.
  await page.getByRole('button', { name: 'Edit On' }).click();
  await expect(editor).toContainText('Cars of mine');
  await contest.getByRole('button', { name: 'Keep Mine' }).click();
  await expect(blocks.nth(0)).toContainText('Cars of mine');
  await expect(editor).toHaveCount(0);
  // It is saved, too; a document that is closed while JupyterLab saves it makes it open a dialog.
  await expect.poll(() => page.evaluate(isDirty)).toBe(false);
  const saved = await tab.server.api<{ content: string }>(
    `api/contents/${path}?format=text&type=file`
  );
  expect(saved.content).toContain('of mine');
});

test('the report workflow writes, runs and exports a Lexical document', async ({
  lab,
  model,
  server
}) => {
  const { page, panel } = lab;
  await panel.root.getByText('Workflows, quality, tutorials').click();
  await panel.root
    .locator('.da-welcome [data-item="data-visualization-report"]')
    .click();
  const form = panel.root.getByTestId('da-workflow-form');
  await form.getByLabel('Data file').selectOption(`${lab.folder}/cars.csv`);
  await form.getByText('More options').click();
  await form.getByLabel('Format').selectOption('lexical');
  await form.getByLabel('Notebook to write').fill(`${lab.folder}/report.dlex`);
  await form.getByRole('button', { name: 'Run' }).press('Enter');
  await expect(panel.turns).toHaveAttribute('data-status', 'completed', {
    timeout: 80_000
  });

  // In a tab: title, text, code with its outputs and pictures, conclusions.
  const view = page.getByTestId('da-lexical');
  await expect(view.getByRole('heading', { level: 1 })).toBeVisible();
  expect(await lab.front()).toBe('report.dlex');
  await expect(page.locator('.jp-Toolbar-kernelName:visible')).toContainText(
    'Python'
  );
  const path = `${lab.folder}/report.dlex`;
  const { content } = await server.api<{ content: string }>(
    `api/contents/${path}?format=text&type=file`
  );
  const { children } = (JSON.parse(content) as typeof REPORT).root;
  const count = (type: string) =>
    children.filter(node => (node as IAnyNode).type === type).length;
  const inputs = page.locator(
    '[data-testid="da-lexical-block"][data-type="jupyter-input"]'
  );
  await expect(inputs).toHaveCount(count('jupyter-input'));
  expect(count('jupyter-output')).toBeGreaterThan(5);
  expect(content).not.toContain('"output_type":"error"');
  const picture = view.locator('.da-lex-outputs img').first();
  await picture.scrollIntoViewIfNeeded();
  await expect(picture).toBeVisible();
  await shootBoth(lab, 'lexical-report', 'window');
  await page.getByTestId('da-lexical-block').last().scrollIntoViewIfNeeded();
  await expect(
    view.getByRole('heading', { name: /Conclusions/ })
  ).toBeVisible();

  // Exported by the panel.
  const parameters = { document: path, format: 'html' };
  await model.script({
    call: 'proposeAction',
    arguments: { service: 'lexical', action: 'from-lexical', parameters }
  });
  await panel.ask(`/lexical export ${path} to html`, 2);
  await panel.root
    .getByTestId('da-proposal')
    .getByRole('button', { name: 'Export a Lexical document' })
    .click();
  await panel.root
    .getByTestId('da-action-form')
    .getByRole('button', { name: 'Run' })
    .click();
  await panel.ended(3);
  await expect(panel.turns.last()).toContainText('report.html');
  const html = await server.api<{ content: string }>(
    `api/contents/${lab.folder}/report.html?format=text&type=file`
  );
  expect(html.content).toContain('<img');
});

test('a new document is made, written and run by the keyboard', async ({
  lab
}) => {
  const { page } = lab;
  await page.evaluate(async cwd => {
    await window.jupyterapp.commands.execute('datalayer-agent:new-lexical', {
      cwd
    });
  }, lab.folder);
  const view = page.getByTestId('da-lexical');
  await expect(view).toBeVisible();
  const blocks = page.getByTestId('da-lexical-block');
  await expect(blocks).toHaveCount(1);
  await view.getByRole('button', { name: 'Add code' }).click();
  await expect(blocks).toHaveAttribute('data-type', 'jupyter-input');
  await blocks.first().focus();
  await page.keyboard.press('Enter');
  const editor = view.locator('.da-lex-editor .cm-content');
  await expect(editor).toBeFocused();
  await page.keyboard.type('1 / 0');
  await page.keyboard.press('Shift+Enter');
  await expect(view.locator('.da-lex-outputs')).toContainText(
    'ZeroDivisionError'
  );
  await view.getByRole('button', { name: 'Add text' }).click();
  await expect(blocks).toHaveCount(2);
  // In Lexical: a list, a link, and the Markdown of it one click away.
  await blocks.first().focus();
  await page.keyboard.press('ArrowDown');
  await expect(blocks.nth(1)).toBeFocused();
  await page.keyboard.press('Enter');
  const rich = page.getByTestId('da-lexical-rich');
  await expect(rich).toBeFocused();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('one');
  await page.keyboard.press('Control+Shift+Digit8');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.type('two');
  await page.keyboard.press('Shift+Home');
  await page.evaluate(caretMoved);
  await page.keyboard.press('Control+K');
  await page.keyboard.type('javascript:alert(1)');
  await page.keyboard.press('Enter');
  await expect(rich.locator('a')).toHaveCount(0);
  await page.keyboard.press('Control+A');
  await page.keyboard.type('https://jupyter.org');
  await page.keyboard.press('Enter');
  await expect(rich.locator('a')).toHaveText('two');
  await page.getByRole('button', { name: 'Markdown', exact: true }).click();
  await expect(editor).toBeFocused();
  await expect(editor).toContainText('- one');
  await expect(editor).toContainText('[two](https://jupyter.org)');
  // Escape leaves; what was written can be had back.
  await page.keyboard.press('Control+A');
  await page.keyboard.type('## Why');
  await page.keyboard.press('Escape');
  await expect(view.getByRole('listitem').first()).toContainText('one');
  await page.getByRole('button', { name: 'Edit On' }).click();
  await expect(editor).toBeFocused();
  await page.keyboard.press('Control+Enter');
  await expect(view.getByRole('heading', { name: 'Why' })).toBeVisible();
  await blocks.nth(1).hover();
  await blocks
    .nth(1)
    .getByRole('button', { name: 'Delete this heading' })
    .click();
  await expect(blocks).toHaveCount(1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(view.getByRole('heading', { name: 'Why' })).toBeVisible();
  // A document that is closed before the change is saved makes the call fail.
  await expect.poll(() => page.evaluate(isDirty)).toBe(false);
  await page.getByRole('button', { name: 'Source' }).click();
  await expect(page.locator('.jp-FileEditor')).toContainText('jupyter-input');
});

test('a block that is saved before its change is shown keeps the focus, and is edited on as Markdown', async ({
  tab
}) => {
  const { page } = tab;
  const path = `${tab.folder}/slow.dlex`;
  const root = element('root', [
    element('paragraph', [text('one')]),
    element('paragraph', [text('two')])
  ]);
  await tab.server.text(path, JSON.stringify({ root }));
  await tab.load('slow.dlex');
  const blocks = page.getByTestId('da-lexical-block');
  await expect(blocks).toHaveCount(2);
  tab.canBeKept = false;
  // The view gathers changes for a moment; here for so long that a save is always faster.
  await page.evaluate(() => {
    const { setTimeout } = window;
    window.setTimeout = ((act: () => void, delay?: number) =>
      setTimeout(act, delay === 50 ? 60_000 : delay)) as typeof setTimeout;
  });
  const rich = page.getByTestId('da-lexical-rich');
  await blocks.first().focus();
  await page.keyboard.press('Enter');
  await expect(rich).toBeFocused();
  await page.keyboard.type(' more');
  await page.keyboard.press('Control+Enter');
  await expect(rich).toHaveCount(0);
  await expect(page.locator('.da-lex-content')).toHaveText(['one more', 'two']);
  await expect(blocks.first()).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(rich).toBeFocused();
  await page.keyboard.press('Control+B');
  await page.keyboard.type(' and bold');
  await page.getByRole('button', { name: 'Markdown', exact: true }).click();
  const editor = page.locator('.da-lex-editor .cm-content');
  await expect(editor).toBeFocused();
  await expect(editor).toContainText('one more **and bold**');
  await expect(blocks).toHaveCount(2);
  await page.keyboard.press('Escape');
  // What became several blocks goes on in the first of them.
  await blocks.nth(1).focus();
  await page.keyboard.press('Enter');
  await expect(rich).toBeFocused();
  await page.keyboard.press('Control+Shift+Digit8');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await page.keyboard.type('three');
  await page.keyboard.press('Control+Enter');
  await expect(blocks).toHaveCount(3);
  await expect(page.locator('.da-lex-content')).toHaveText([
    'one more and bold',
    'two',
    'three'
  ]);
  await expect(blocks.nth(1)).toHaveAttribute('data-type', 'list');
  await expect(blocks.nth(1)).toBeFocused();
});

pictures(
  'all kinds of blocks beside a panel of 300 px, in 500 px',
  async ({ tab }) => {
    const { page } = tab;
    const list = element(
      'list',
      [element('listitem', [text('one')], { value: 1 })],
      { listType: 'number', start: 1, tag: 'ol' }
    );
    const image = {
      altText: 'a dot',
      caption: { editorState: { root: element('root', []) } },
      height: 40,
      maxWidth: 500,
      showCaption: false,
      src: 'data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=',
      type: 'image',
      version: 1,
      width: 40
    };
    const equation = {
      equation: '\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt\\pi}{2}',
      inline: false,
      type: 'equation',
      version: 1
    };
    const long =
      'a_rather_long_name = some_function(of_this, and_of_that, more=1)';
    const root = element('root', [
      ...REPORT.root.children.slice(0, 6),
      list,
      element('paragraph', [image]),
      element('paragraph', [equation]),
      input(`print("x" * 200)\n# ${long}`, 'long'),
      ...REPORT.root.children.slice(8)
    ]);
    await tab.server.text(`${tab.folder}/cars.dlex`, JSON.stringify({ root }));
    await tab.load('cars.dlex');
    await tab.panelWidth(300);
    const view = page.getByTestId('da-lexical');
    await expect(page.getByTestId('da-lexical-run')).toHaveCount(1);
    const { width } = (await view.boundingBox())!;
    const size = page.viewportSize()!;
    await page.setViewportSize({
      width: Math.round(size.width - width + 500),
      height: 1_500
    });
    await page.getByTestId('da-lexical-run').first().click();
    await expect(page.locator('.da-lex-outputs')).toContainText('xxx');
    await shootBoth(tab, 'lexical-all-narrow', 'window');
    await page.setViewportSize(WINDOW);
  }
);
