import { readFileSync } from 'fs';
import { join } from 'path';

import type { ICell } from '@jupyterlab/nbformat';

import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { LabPage } from '../support/lab';
import { NotebookPage } from '../support/notebook';

/** Code in a page's cell, in a list of lines, in Markdown, with a lone CR, with an emoji; and a locked cell. */
const CELLS: ICell[] = [
  code('crlf', 'a = 1\r\nb = 2\r\nc = 3'),
  code('lines', ['x = "😀"\r\n', 'y = 2\r\n', 'z = 3\r\n']),
  {
    id: 'prose',
    cell_type: 'markdown',
    source: '# One\r\n\r\nTwo 😀\r\n',
    metadata: {}
  },
  code('mixed', 'p = 1\rq = 2\r\nr = 3\ns = 4'),
  code('locked', 'l = 1\r\nm = 2', {
    editable: false,
    deletable: false,
    nbgrader: { locked: true }
  })
];
const UNTOUCHED = CELLS.map(({ source }) => text(source));

test.use({ keepsTab: true });

function code(
  id: string,
  source: string | string[],
  metadata: ICell['metadata'] = {}
): ICell {
  return {
    id,
    cell_type: 'code',
    source,
    metadata,
    outputs: [],
    execution_count: null
  };
}

function text(source: string | string[]): string {
  return Array.isArray(source) ? source.join('') : source;
}

/** Write the cells, and open them. */
async function openCells(tab: LabPage, name: string): Promise<NotebookPage> {
  await tab.server.text(
    `${tab.folder}/${name}`,
    JSON.stringify({
      cells: CELLS,
      metadata: {
        kernelspec: { name: 'python3', display_name: 'Python 3' }
      },
      nbformat: 4,
      nbformat_minor: 5
    })
  );
  await tab.load(name);
  const notebook = tab.notebook(name);
  await notebook.ready();
  return notebook;
}

/** The sources in the file, as its bytes have them. */
function saved(tab: LabPage, name: string): string[] {
  const path = join(tab.server.about.root, tab.folder, name);
  const { cells } = JSON.parse(readFileSync(path, 'utf-8')) as {
    cells: ICell[];
  };
  return cells.map(({ source }) => text(source));
}

/** Wait until the file has these sources: it is written in place. */
async function isSaved(
  tab: LabPage,
  name: string,
  sources: string[]
): Promise<void> {
  await expect(() => expect(saved(tab, name)).toEqual(sources)).toPass({
    timeout: 15_000
  });
}

/** What the cells' editors show. */
async function shown(tab: LabPage, name: string): Promise<string[]> {
  return tab.page.evaluate(path => {
    const panel = [...window.jupyterapp.shell.widgets('main')].find(
      widget =>
        (widget as unknown as { context?: { path: string } }).context?.path ===
        path
    ) as unknown as {
      content: {
        widgets: { editor: { editor: { state: { doc: object } } } | null }[];
      };
    };
    return panel.content.widgets.map(({ editor }) =>
      String(editor?.editor.state.doc)
    );
  }, `${tab.folder}/${name}`);
}

/** Editor, document and file agree on this text of some cells; the others are as they were written. */
async function agree(
  tab: LabPage,
  notebook: NotebookPage,
  name: string,
  changed: Record<string, string>
): Promise<void> {
  const expected = CELLS.map(
    ({ id, source }) => changed[id as string] ?? text(source)
  );
  await expect.poll(() => notebook.sources()).toEqual(expected);
  // Not by a key: after the notebook's own undo JupyterLab may leave the keyboard nowhere.
  await notebook.save();
  expect(await notebook.isDirty()).toBe(false);
  expect(saved(tab, name)).toEqual(expected);
  await expect
    .poll(() => shown(tab, name))
    .toEqual(expected.map(source => source.replace(/\r\n?/g, '\n')));
}

/** A tagged block for a cell, as a model writes it that ends lines in CRLF. */
function proposal(cellId: string, source: string, language = 'python'): string {
  return `\`\`\`${language} cell=${cellId}\n${source}\n\`\`\`\n`.replace(
    /\n/g,
    '\r\n'
  );
}

test('case 05: the agent edits a cell with CRLF in an open page; editor and file agree; undo restores it', async ({
  tab,
  model
}) => {
  const name = 'agent.ipynb';
  const notebook = await openCells(tab, name);
  await tab.panel.attach(name);
  await tab.panel.mode('agent');
  const update = (cellId: string, oldString: string, newString: string) => ({
    call: 'updateNotebookCell',
    arguments: { cellId, edits: [{ oldString, newString }] }
  });
  await model.script(
    { call: 'getNotebookCells' },
    {
      calls: [
        update('crlf', 'b = 2', 'b = 20'),
        update('lines', 'y = 2\nz = 3', 'y = "😀"\nz = 30'),
        update('prose', 'Two 😀', 'Two 😀😀'),
        update('mixed', 'q = 2\nr = 3', 'q = 20\nr = 30'),
        update('locked', 'm = 2', 'm = 20')
      ]
    },
    {
      call: 'addNotebookCell',
      arguments: { type: 'code', content: 'a=6\r\nprint(a*7)', run: true }
    },
    { say: 'Done.' }
  );
  await tab.panel.ask('Change it');
  const added = 'a=6\nprint(a*7)';
  const edited = [
    'a = 1\nb = 20\nc = 3',
    'x = "😀"\ny = "😀"\nz = 30\n',
    '# One\n\nTwo 😀😀\n',
    'p = 1\nq = 20\nr = 30\ns = 4',
    'l = 1\r\nm = 2',
    added
  ];
  expect(await notebook.sources()).toEqual(edited);
  await isSaved(tab, name, edited);
  await expect
    .poll(() => shown(tab, name))
    .toEqual(edited.map(source => source.replace(/\r\n/g, '\n')));
  await expect(notebook.output(5)).toHaveText('42');
  const [, answer] = [await model.request(2), await model.request(3)];
  expect(answer.text).toContain('is locked and cannot be changed');

  // The diff is of the lines that were changed, not of all that end otherwise now.
  await tab.panel.changes.getByRole('button', { name: 'Diff' }).click();
  const diff = tab.page.getByTestId('da-diff-tab');
  const first = diff.getByRole('region', { name: 'Changed cell 1' });
  await expect(first.locator('.da-mod-removed, .da-mod-added')).toHaveText([
    /^.b = 2\s*$/,
    /^.b = 20\s*$/
  ]);

  await tab.panel.changes.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => notebook.sources()).toEqual(UNTOUCHED);
  await isSaved(tab, name, UNTOUCHED);
  await expect
    .poll(() => shown(tab, name))
    .toEqual(UNTOUCHED.map(source => source.replace(/\r\n?/g, '\n')));
});

test('an inline chat writes into cells with CRLF what its diff shows, and rejecting leaves the file as it was', async ({
  tab,
  model
}) => {
  const name = 'inline.ipynb';
  const { page } = tab;
  const notebook = await openCells(tab, name);
  const chat = new InlineChat(tab);
  await model.script(
    { say: proposal('crlf', 'a = 10\nb = 2\nc = 30') },
    { say: proposal('crlf', 'a = 10\nb = 2\nc = 30') }
  );

  // What is selected reaches the model as it is shown, and the diff has the changed lines alone.
  await notebook.edit(0);
  await page.keyboard.press('Control+End');
  await page.keyboard.press('Shift+Home');
  await chat.open();
  await chat.ask('Ten times the ends');
  await expect(chat.accept).toBeVisible();
  expect((await model.request(1)).text).toContain(
    'Selected in it, and what is meant:\n```\nc = 3\n```'
  );
  await expect(chat.removedLines).toHaveText(['a = 1', 'c = 3']);
  await expect(chat.addedLines).toHaveText(['a = 10', 'c = 30']);
  await chat.reject.click();
  await page.keyboard.press('Escape');
  await agree(tab, notebook, name, {});

  // The lower one by its own button, the upper one by the box: both are where the diff had them.
  await notebook.edit(0);
  await chat.open();
  await chat.ask('Ten times the ends');
  await expect(chat.accept).toBeVisible();
  await chat.added.nth(1).getByRole('button', { name: 'Accept' }).click();
  await expect(chat.removedLines).toHaveText(['a = 1']);
  await agree(tab, notebook, name, { crlf: 'a = 1\nb = 2\nc = 30' });
  await chat.accept.click();
  await expect(chat.removedLines).toHaveCount(0);
  await agree(tab, notebook, name, { crlf: 'a = 10\nb = 2\nc = 30' });

  // Each is a step of the cell's undo; the notebook's brings the line ends back.
  await notebook.edit(0);
  await page.keyboard.press('Control+z');
  await agree(tab, notebook, name, { crlf: 'a = 1\nb = 2\nc = 30' });
  await notebook.edit(0);
  await page.keyboard.press('Control+z');
  await agree(tab, notebook, name, { crlf: 'a = 1\nb = 2\nc = 3' });
  await notebook.undo();
  await agree(tab, notebook, name, {});
});

test('several cells with CRLF are accepted at once, as one step', async ({
  tab,
  model
}) => {
  const name = 'several.ipynb';
  const notebook = await openCells(tab, name);
  const chat = new InlineChat(tab);
  await model.script({
    say: [
      proposal('lines', 'x = "😀"\ny = 2\nz = "😀😀"\n'),
      proposal('prose', '# One\n\nTwo 😀\nThree\n', 'markdown'),
      proposal('mixed', 'p = 1\nq = 2\nr = 30\ns = 4'),
      proposal('lines', 'new = 1').replace('cell=', 'after=')
    ].join('\r\n')
  });
  await notebook.edit(1);
  await chat.open();
  await chat.ask('Change them');
  await expect(chat.accept).toBeVisible();
  await expect(chat.removedLines).toHaveText(['z = 3', 'r = 3']);
  await chat.accept.click();
  await expect(chat.root).toHaveCount(0);
  const sources = [
    UNTOUCHED[0],
    'x = "😀"\ny = 2\nz = "😀😀"\n',
    'new = 1',
    '# One\n\nTwo 😀\nThree\n',
    'p = 1\nq = 2\nr = 30\ns = 4',
    UNTOUCHED[4]
  ];
  await expect.poll(() => notebook.sources()).toEqual(sources);
  await expect
    .poll(() => shown(tab, name))
    .toEqual(sources.map(source => source.replace(/\r\n/g, '\n')));
  // The keyboard is in the cell that was made anew, as it would be in any other.
  await expect(notebook.editor(1)).toBeFocused();
  await notebook.save();
  expect(await notebook.isDirty()).toBe(false);
  expect(saved(tab, name)).toEqual(sources);
  await notebook.undo();
  await agree(tab, notebook, name, {});
});

test('case 06: nothing is accepted into a locked cell, also where it was locked since', async ({
  tab,
  model
}) => {
  const name = 'locked.ipynb';
  const { page } = tab;
  const notebook = await openCells(tab, name);
  const chat = new InlineChat(tab);
  await model.script(
    { say: proposal('locked', 'l = 1\nm = 20') },
    { say: proposal('crlf', 'a = 10\nb = 2\nc = 3') }
  );
  await notebook.edit(4);
  await chat.open();
  await chat.ask('Change it');
  await expect(chat.accept).toBeVisible();
  await chat.added.getByRole('button', { name: 'Accept' }).click();
  await expect(chat.root).toContainText('Cell 5 is locked.');
  await chat.accept.click();
  await expect(chat.root).toContainText('Cell 5 is locked.');
  await expect(chat.addedLines).toHaveText(['m = 20']);
  await chat.reject.click();
  await page.keyboard.press('Escape');
  await agree(tab, notebook, name, {});

  await notebook.edit(0);
  await chat.open();
  await chat.ask('Change it');
  await expect(chat.accept).toBeVisible();
  const lock = (value: boolean | undefined) =>
    page.evaluate(
      ([path, value]) => {
        const panel = [...window.jupyterapp.shell.widgets('main')].find(
          widget =>
            (widget as unknown as { context?: { path: string } }).context
              ?.path === path
        ) as unknown as {
          content: {
            model: {
              sharedModel: {
                cells: { setMetadata(key: string, value: unknown): void }[];
              };
            };
          };
        };
        panel.content.model.sharedModel.cells[0].setMetadata('nbgrader', {
          locked: value
        });
      },
      [`${tab.folder}/${name}`, value] as const
    );
  await lock(true);
  await chat.added.getByRole('button', { name: 'Accept' }).click();
  await expect(chat.root).toContainText('Cell 1 is locked.');
  expect(await notebook.sources()).toEqual(UNTOUCHED);
  await lock(false);
  await chat.added.getByRole('button', { name: 'Accept' }).click();
  await agree(tab, notebook, name, { crlf: 'a = 10\nb = 2\nc = 3' });
});
