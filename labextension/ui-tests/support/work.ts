import { LabPage } from './lab';
import { NotebookPage } from './notebook';

/**
 * A notebook with these code cells (ids `cell-0`, `cell-1`, ...) active, attached, in Agent mode.
 */
export async function openWork(
  tab: LabPage,
  ...sources: string[]
): Promise<NotebookPage> {
  await tab.server.notebook(
    `${tab.folder}/work.ipynb`,
    sources.map((source, index) => ({ source, id: `cell-${index}` }))
  );
  await tab.load('work.ipynb');
  const notebook = tab.notebook('work.ipynb');
  await notebook.ready();
  await tab.panel.attach('work.ipynb');
  await tab.panel.mode('agent');
  return notebook;
}
