import { Step } from './model';

/** The code that loads the cars. */
export const LOAD =
  'import pandas as pd\n\ncars = pd.read_csv("cars.csv")\ncars.shape';

/** Code with a misspelt column. */
export const WRONG =
  'mean_hp = cars.groupby("Origin")["Horsepowr"].mean()\nprint(mean_hp.round(2).to_dict())';

/** A step that adds a cell. */
export function addCell(
  content: string,
  more: Record<string, unknown> = {}
): Step {
  return {
    call: 'addNotebookCell',
    arguments: { type: 'code', content, ...more }
  };
}

/** Read, load, go wrong, see the error, fix it in place, answer. */
export const MAIN_JOB: Step[] = [
  { call: 'getNotebookCells' },
  addCell(LOAD, { run: true }),
  addCell(WRONG, { run: true }),
  {
    call: 'updateNotebookCell',
    arguments: {
      cellId: { regex: '"cellId": ?"([^"]+)"' },
      edits: [{ oldString: 'Horsepowr', newString: 'Horsepower' }],
      run: true
    }
  },
  {
    say: {
      format: 'American cars have {} horsepower on average.',
      values: [{ regex: "'USA': ([0-9.]+)" }]
    }
  }
];
