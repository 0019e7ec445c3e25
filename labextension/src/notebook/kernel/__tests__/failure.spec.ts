import { CodeCellModel } from '@jupyterlab/cells';

import { failureOf } from '../failure';

function failed(ename: string): CodeCellModel {
  const model = new CodeCellModel();
  const evalue = 'why';
  model.outputs.add({ output_type: 'error', ename, evalue, traceback: [] });
  return model;
}

describe('failureOf', () => {
  it('names the error as a user would, and reports no interrupt as one', () => {
    expect(failureOf(failed('KeyError'))?.name).toBe('KeyError');
    expect(failureOf(failed('ERROR'))?.name).toBe('Error');
    expect(failureOf(failed(''))?.name).toBe('Error');
    expect(failureOf(failed('KeyboardInterrupt'))).toBeNull();
    expect(failureOf(failed('AgentMagicError'))).toBeNull();
    expect(failureOf(new CodeCellModel())).toBeNull();
  });
});
