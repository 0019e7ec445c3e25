import { mkdtempSync, writeFileSync } from 'fs';
import { tmpdir } from 'os';
import { join } from 'path';

import { expect, test } from '../support/fixtures';

const HOOK = `
def double_quotes(model, **_):
    if model["type"] == "file":
        model["content"] = model["content"].replace("'", '"')

c.FileContentsManager.pre_save_hook = double_quotes
`;
const config = mkdtempSync(join(tmpdir(), 'save-hooks-'));
writeFileSync(join(config, 'jupyter_server_config.py'), HOOK);

test.use({ environment: { JUPYTER_CONFIG_PATH: config } });

test('an open file shows what a save hook made of a change, which is undone', async ({
  tab,
  model,
  server
}) => {
  const path = `${tab.folder}/h.py`;
  await server.text(path, 'x = 1\n');
  await tab.load('h.py');
  const text = tab.page.locator('.jp-FileEditor .cm-content');
  await expect(text).toContainText('x = 1');
  await tab.panel.mode('agent');
  const edits = [{ oldString: 'x = 1', newString: "x = 'one'" }];
  await model.script(
    { call: 'readFile', arguments: { path } },
    { call: 'editFile', arguments: { path, edits } },
    { say: 'Done.' }
  );
  await tab.panel.ask('Name it');
  await expect(tab.panel.root).toContainText('reformatted on save');
  await expect(text).toContainText('x = "one"');
  await expect(tab.page.locator('.jp-mod-current.jp-mod-dirty')).toHaveCount(0);
  const saved = () =>
    server.api<{ content: string }>(
      `api/contents/${path}?type=file&format=text`
    );
  expect((await saved()).content).toBe('x = "one"\n');
  await tab.panel.changes.getByRole('button', { name: 'Undo' }).click();
  await expect(text).toContainText('x = 1');
  await expect.poll(async () => (await saved()).content).toBe('x = 1\n');
});
