import type { NotebookPanel } from '@jupyterlab/notebook';

import { expect, test } from '../support/fixtures';
import { InlineChat } from '../support/inline';
import { LabPage } from '../support/lab';
import { openWork } from '../support/work';

test.use({ keepsTab: false });

// A minute, and figures that another test beside it spoils: on its own, by MEASURE=1.
const measured = process.env.MEASURE === '1' ? test : test.skip;
const CELLS = 1_000;

/** What an act costs the page: the time of scripts, and of all tasks, in ms. */
async function costOf(
  { page }: LabPage,
  act: () => Promise<unknown>
): Promise<string> {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable');
  const read = async () => {
    const { metrics } = await client.send('Performance.getMetrics');
    const of = (name: string) =>
      1000 * (metrics.find(each => each.name === name)?.value ?? 0);
    return [of('ScriptDuration'), of('TaskDuration')];
  };
  const before = await read();
  await act();
  const after = await read();
  await client.detach();
  const [script, task] = after.map((value, at) => value - before[at]);
  return `scripts ${script.toFixed(0)} ms, all tasks ${task.toFixed(0)} ms`;
}

/** The kernel says 100 times that it is busy, and idle: 20 cells that run. */
function statuses({ page }: LabPage): Promise<void> {
  return page.evaluate(async () => {
    const panel = window.jupyterapp.shell.currentWidget as NotebookPanel;
    const { statusChanged } = panel.sessionContext;
    for (let count = 0; count < 100; count++) {
      const status = count % 2 ? 'idle' : 'busy';
      (statusChanged as unknown as { emit(status: string): void }).emit(status);
      await new Promise(requestAnimationFrame);
    }
  });
}

measured(
  'a notebook of 1,000 cells: what the kernel and keys cost',
  async ({ tab, server }) => {
    test.setTimeout(180_000);
    const { page, panel } = tab;
    await server.notebook(
      `${tab.folder}/large.ipynb`,
      Array.from({ length: CELLS }, (_, at) => ({
        source: `df${at} = pd.read_csv("a.csv")\ndf${at}.x = ${at}\n`.padEnd(
          400,
          '# words '
        ),
        id: `cell-${at}`
      }))
    );
    await tab.load('large.ipynb');
    const notebook = tab.notebook('large.ipynb');
    await notebook.ready();
    await notebook.kernelReady();
    await expect(panel.root.locator('.da-welcome')).toBeVisible();
    const figures: Record<string, string> = {};
    figures['100 kernel statuses, panel shown'] = await costOf(tab, () =>
      statuses(tab)
    );
    await page.evaluate(() =>
      window.jupyterapp.commands.execute('application:toggle-right-area')
    );
    await expect(panel.root).toBeHidden();
    figures['100 kernel statuses, panel hidden'] = await costOf(tab, () =>
      statuses(tab)
    );
    await notebook.edit(0);
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Enter');
    figures['200 keys'] = await costOf(tab, () =>
      page.keyboard.type('x = 1 + '.repeat(25))
    );
    console.log(
      Object.entries(figures)
        .map(line => line.join(': '))
        .join('\n')
    );
  }
);

measured(
  'a proposal of 300 lines: what its growing costs',
  async ({ tab, model }) => {
    const notebook = await openWork(tab, 'x = 1', 'y = 2');
    await notebook.edit(1);
    const chat = new InlineChat(tab);
    await chat.open();
    const lines = Array.from(
      { length: 300 },
      (_, at) => `row_${at} = compute(${at}, "text", key=[1, 2, 3])`
    ).join('\n');
    // In 600 pieces, as a model streams it.
    const answer = `\`\`\`python cell=cell-1\n${lines}\n\`\`\`\n`;
    const chunk = Math.ceil(answer.length / 600);
    await model.script({ say: answer, chunk, delayMs: 10 });
    const cost = await costOf(tab, async () => {
      await chat.ask('Write it');
      await expect(chat.addedLines).toHaveCount(300);
      await expect(chat.accept).toBeVisible();
    });
    console.log(`a proposal of 300 lines streams: ${cost}`);
  }
);
