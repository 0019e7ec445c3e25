import { expect, test } from '../support/fixtures';

/** The listeners of ours on the document and the window, by what they hear of. */
declare global {
  interface Window {
    ourListeners: Map<string, number>;
  }
}

test.describe('closed notebooks', () => {
  test.use({ keepsTab: false });

  test('leave no listener of ours on the page, nor does a second view', async ({
    tab,
    server
  }) => {
    const { page, folder } = tab;
    await page.addInitScript(() => {
      const counts = (window.ourListeners = new Map<string, number>());
      const known = new WeakMap<object, Set<string>>();
      for (const target of [document, window]) {
        const { addEventListener, removeEventListener } = target;
        const keyOf = (type: string, options: unknown) =>
          `${type} ${typeof options === 'object' ? (options as AddEventListenerOptions)?.capture === true : options === true}`;
        target.addEventListener = (
          type: string,
          listener: EventListener,
          options?: unknown
        ) => {
          const isOurs = /jupyter-datalayer-agent/.test(
            new Error().stack ?? ''
          );
          const key = keyOf(type, options);
          const mine = listener && (known.get(listener) ?? new Set<string>());
          if (isOurs && listener && !mine.has(key)) {
            known.set(listener, mine.add(key));
            counts.set(type, (counts.get(type) ?? 0) + 1);
          }
          addEventListener.call(
            target,
            type,
            listener,
            options as AddEventListenerOptions
          );
        };
        target.removeEventListener = (
          type: string,
          listener: EventListener,
          options?: unknown
        ) => {
          if (listener && known.get(listener)?.delete(keyOf(type, options))) {
            counts.set(type, counts.get(type)! - 1);
          }
          removeEventListener.call(
            target,
            type,
            listener,
            options as AddEventListenerOptions
          );
        };
      }
    });
    const cells = [{ source: '1 / 0', id: 'first' }];
    await server.notebook(`${folder}/view.ipynb`, cells);
    await tab.load('view.ipynb');
    const notebook = tab.notebook('view.ipynb');
    await notebook.kernelReady();
    await notebook.run(0);
    await expect(page.getByTestId('da-error-bar')).toHaveCount(1);
    const count = () =>
      page.evaluate(() => Object.fromEntries(window.ourListeners));
    const before = await count();
    expect(Object.keys(before)).not.toContain('keydown');
    for (let number = 0; number < 20; number++) {
      await page.evaluate(() =>
        window.jupyterapp.commands.execute('docmanager:clone')
      );
      await expect(page.locator('.jp-NotebookPanel')).toHaveCount(2);
      await page.evaluate(() => window.jupyterapp.shell.currentWidget!.close());
      await expect(page.locator('.jp-NotebookPanel')).toHaveCount(1);
    }
    expect(await count()).toEqual(before);
    // What can be dragged to the panel is that while the panel is there.
    expect(before.pointerover).toBe(1);
    await page.evaluate(() =>
      window.jupyterapp.commands.execute('application:toggle-right-area')
    );
    await expect.poll(async () => (await count()).pointerover).toBe(0);
    await page.evaluate(() =>
      window.jupyterapp.commands.execute('application:toggle-right-area')
    );
    await expect.poll(async () => (await count()).pointerover).toBe(1);
  });
});

test('only the question about a changed file counts as a save that waits', async ({
  tab,
  server
}) => {
  const { page, folder } = tab;
  const path = `${folder}/saved.ipynb`;
  const cells = [{ source: 'x = 1', id: 'first' }];
  await server.notebook(path, cells);
  await tab.load('saved.ipynb');
  const notebook = tab.notebook('saved.ipynb');
  await notebook.kernelReady();
  const change = (content: string) =>
    server.api<object>('datalayer-agent/tools/updateNotebookCell', 'POST', {
      path,
      arguments: { cellId: 'first', content }
    });
  const dialog = page.locator('.jp-Dialog');

  await page.evaluate(() => {
    void window.jupyterapp.commands.execute('help:about');
  });
  await expect(dialog).toBeVisible();
  expect(await change('x = 2')).toMatchObject({ ok: true });
  expect(JSON.stringify(await server.read(path))).toContain('x = 2');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);

  await server.notebook(path, [{ source: 'x = 0', id: 'first' }]);
  expect(JSON.stringify(await change('x = 3'))).toContain('JupyterLab asks');
  await expect(dialog).toContainText('has changed on disk');
  await dialog.getByRole('button', { name: 'Overwrite' }).click();
  await expect(dialog).toHaveCount(0);
});
