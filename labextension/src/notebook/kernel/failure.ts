import { Cell, ICellModel, isCodeCellModel } from '@jupyterlab/cells';

/** The error that a cell shows. */
export interface IFailure {
  name: string;
  /** What the kernel says of it: `name 'x' is not defined`. */
  message: string;
}

/** What is no error of the code: that the user stopped it, and what `%agent` says of itself. */
const NO_FAILURES = ['KeyboardInterrupt', 'AgentMagicError'];

/** Whether an error of this name is one of a cell's code. */
export function isFailure(name: string): boolean {
  return !NO_FAILURES.includes(name);
}

/** The error that a cell shows; null where it shows none of its code's. */
export function failureOf(model: ICellModel): IFailure | null {
  const error = lastError(model);
  return error && isFailure(error.name) ? error : null;
}

/** Whether the last run of a cell was stopped. */
export function wasInterrupted({ model }: Cell): boolean {
  return lastError(model)?.name === 'KeyboardInterrupt';
}

function lastError(model: ICellModel): IFailure | null {
  if (!isCodeCellModel(model)) {
    return null;
  }
  const { outputs } = model;
  for (let index = outputs.length - 1; index >= 0; index--) {
    const output = outputs.get(index);
    if (output.type === 'error') {
      const { ename, evalue } = output.toJSON();
      // R's kernel calls every error so, and bash's gives none a name.
      const isNamed = ename && ename !== 'ERROR';
      const name = isNamed ? String(ename) : 'Error';
      return { name, message: String(evalue) };
    }
  }
  return null;
}
