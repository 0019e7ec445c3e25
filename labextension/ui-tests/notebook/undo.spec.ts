import { expect, test } from '../support/fixtures';
import { LabServer } from '../support/server';

const CELLS = [
  { id: 'title', type: 'markdown' as const, source: '# Cars' },
  { id: 'six', source: 'x = 6\nx' },
  { id: 'gone', source: 'y = 1\ny' },
  { id: 'mine', source: 'z = 0' },
  { id: 'end', type: 'markdown' as const, source: 'The end' }
];

const EVERYTHING = [
  { call: 'getNotebookCells' },
  {
    calls: [
      {
        call: 'updateNotebookCell',
        arguments: { cellId: 'six', content: 'x = 7\nx', run: true }
      },
      {
        call: 'addNotebookCell',
        arguments: { type: 'code', content: 'x * 2', run: true }
      },
      {
        call: 'updateNotebookCell',
        arguments: { cellId: 'end', type: 'code', content: '1 + 1' }
      },
      { call: 'deleteNotebookCells', arguments: { cellIds: ['gone'] } },
      {
        call: 'moveNotebookCell',
        arguments: { cellId: 'title', position: 'end' }
      }
    ]
  },
  { call: 'runNotebookCells', arguments: { all: true } },
  { say: 'Done.' }
];

interface ITurns {
  turns: { id: string; events: { type: string }[] }[];
}

/** The newest session's last turn. */
async function lastTurn(
  server: LabServer
): Promise<{ session: string; turn: string }> {
  const { sessions } = await server.api<{ sessions: { id: string }[] }>(
    'datalayer-agent/sessions?limit=1'
  );
  const session = sessions[0].id;
  const { turns } = await server.api<ITurns>(
    `datalayer-agent/sessions/${session}/turns`
  );
  return { session, turn: turns[turns.length - 1].id };
}

/** Take the last turn back; resolves with what its event says. */
async function takeBack(server: LabServer): Promise<unknown> {
  const { session, turn } = await lastTurn(server);
  await server.decide(`sessions/${session}/ops`, 'POST', {
    type: 'undo',
    turnId: turn
  });
  let found: unknown;
  await expect(async () => {
    const { turns } = await server.api<ITurns>(
      `datalayer-agent/sessions/${session}/turns?include=events`
    );
    found = turns
      .find(({ id }) => id === turn)!
      .events.find(({ type }) => type === 'changes_undone');
    expect(found).toBeDefined();
  }).toPass();
  return found;
}

test('peers 5: a turn is taken back in the open page, exactly, and typing elsewhere stays', async ({
  tab,
  model,
  server
}) => {
  await server.notebook(`${tab.folder}/undo.ipynb`, CELLS);
  await tab.load('undo.ipynb');
  const notebook = tab.notebook('undo.ipynb');
  await notebook.kernelReady();
  await notebook.run(1);
  await notebook.run(2);
  await notebook.ran(1);
  await notebook.ran(2);
  await expect(notebook.output(1)).toHaveText('6');
  await expect(notebook.output(2)).toHaveText('1');
  const before = await notebook.content();

  await model.script(...EVERYTHING);
  await tab.panel.attach('undo.ipynb');
  await tab.panel.mode('agent');
  await tab.panel.send('Change everything');
  await tab.panel.root.getByTestId('da-approve').click();
  await tab.panel.ended(1);
  expect(await notebook.sources()).toEqual([
    'x = 7\nx',
    'z = 0',
    '1 + 1',
    'x * 2',
    '# Cars'
  ]);
  await notebook.type(1, '  # typed');
  const view = await notebook.view();

  expect(await takeBack(server)).toMatchObject({ conflicts: [] });
  const mine = before.findIndex(({ id }) => id === 'mine');
  const expected = before.map((cell, index) =>
    index === mine ? { ...cell, source: 'z = 0  # typed' } : cell
  );
  const after = await notebook.content();
  // The user's cell was run by the turn: what that left is taken back, too.
  expect(after).toEqual(expected);
  expect(await notebook.view()).toEqual(view);
  const onDisk = await server.read(`${tab.folder}/undo.ipynb`);
  expect(onDisk.cells).toEqual(after);

  // It is one step of the notebook's own undo.
  await notebook.undo();
  expect(await notebook.sources()).toEqual([
    'x = 7\nx',
    'z = 0  # typed',
    '1 + 1',
    'x * 2',
    '# Cars'
  ]);
});

test('what a turn did in a page is taken back when no page shows the notebook any more', async ({
  tab,
  model,
  server
}) => {
  const path = `${tab.folder}/undo.ipynb`;
  await server.notebook(path, CELLS);
  await tab.load('undo.ipynb');
  const notebook = tab.notebook('undo.ipynb');
  await notebook.kernelReady();
  await notebook.run(1);
  await notebook.ran(1);
  await expect(notebook.output(1)).toHaveText('6');
  await model.script(...EVERYTHING);
  await tab.panel.attach('undo.ipynb');
  await tab.panel.mode('agent');
  const before = await notebook.content();
  await tab.panel.send('Change everything');
  await tab.panel.root.getByTestId('da-approve').click();
  await tab.panel.ended(1);

  await tab.open('cars.ipynb');
  await tab.page.evaluate(async shown => {
    for (const widget of [...window.jupyterapp.shell.widgets('main')]) {
      const { context } = widget as unknown as { context?: { path: string } };
      if (context?.path === shown) {
        widget.dispose();
      }
    }
  }, path);
  expect(await takeBack(server)).toMatchObject({ conflicts: [] });
  expect((await server.read(path)).cells).toEqual(before);
});

test('a notebook that a turn made is deleted again, and its tab closes', async ({
  lab,
  model,
  server
}) => {
  await model.script(
    {
      call: 'createNotebook',
      arguments: { name: `${lab.folder}/made.ipynb` }
    },
    { call: 'addNotebookCell', arguments: { type: 'code', content: '1 + 1' } },
    { say: 'Done.' }
  );
  await lab.panel.mode('agent');
  await lab.panel.ask('Make a notebook');
  await lab.panel.ended(1);
  const shown = lab.page.locator('.lm-TabBar-tabLabel', {
    hasText: 'made.ipynb'
  });
  await expect(shown).toHaveCount(1);
  const chip = lab.panel.attachments.filter({ hasText: 'made.ipynb' });
  await expect(chip).toBeVisible();
  expect(await takeBack(server)).toMatchObject({
    changes: [{ op: 'delete', path: `${lab.folder}/made.ipynb` }]
  });
  await expect(shown).toHaveCount(0);
  await expect(chip).toHaveCount(0);
  await expect(server.read(`${lab.folder}/made.ipynb`)).rejects.toThrow();
});
