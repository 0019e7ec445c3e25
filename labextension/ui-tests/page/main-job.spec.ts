import { expect, test } from '../support/fixtures';
import { MAIN_JOB } from '../support/scripts';

test('a sentence becomes cells that ran, on the page and on disk', async ({
  lab,
  model,
  server,
  mean
}) => {
  const notebook = lab.notebook('cars.ipynb');
  await model.script(...MAIN_JOB);
  await lab.panel.attach('cars.ipynb');
  await lab.panel.mode('agent');
  await lab.panel.ask('What is the mean horsepower of American cars?');

  // The answer, and what was done for it.
  await expect(lab.panel.answers).toHaveText(
    `American cars have ${mean} horsepower on average.`
  );
  await expect(lab.panel.toolCalls).toHaveCount(4);
  const statuses = await lab.panel.toolCalls.evaluateAll(calls =>
    calls.map(call => call.getAttribute('data-status'))
  );
  expect(statuses).toEqual(['ok', 'ok', 'error', 'ok']);
  await expect(lab.panel.toolCalls.nth(2)).toContainText('Horsepowr');

  // The cells on the page.
  await expect(notebook.cells).toHaveCount(3);
  await expect(notebook.editor(1)).toContainText('read_csv("cars.csv")');
  await expect(notebook.output(1)).toHaveText('(406, 9)');
  await expect(notebook.editor(2)).toContainText('["Horsepower"]');
  await expect(notebook.output(2)).toContainText(String(mean));
  await expect(notebook.prompt(2)).toHaveText('[3]:');

  // The notebook on disk is that of the page, and valid (`read` validates it).
  const onDisk = await server.read(`${lab.folder}/cars.ipynb`);
  expect(onDisk.cells).toEqual(await notebook.content());
  expect(onDisk.cells[0].id).toBe('heading');
  expect(onDisk.cells[2].source).not.toContain('Horsepowr');
  expect(onDisk.cells[2].execution_count).toBe(3);
  expect(JSON.stringify(onDisk.cells[2].outputs)).toContain(String(mean));
  expect(await notebook.isDirty()).toBe(false);

  const requests = await model.requests();
  expect(requests).toHaveLength(5);
  expect(requests.every(request => request.stream)).toBe(true);
  expect(requests[0].toolNames).toContain('updateNotebookCell');
});
