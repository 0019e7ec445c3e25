import { ICellModel } from '@jupyterlab/cells';
import { INotebookModel } from '@jupyterlab/notebook';

import { isHeldBack } from './agentMark';
import { isCode } from './cells';

/** Trust a cell's outputs no more; also not when it is saved, which JupyterLab's model forgets. */
export function withdrawTrust(model: ICellModel): void {
  model.trusted = false;
  if (model.sharedModel.getMetadata('trusted')) {
    model.sharedModel.setMetadata('trusted', false);
  }
}

/**
 * Give the trust in all cells that show what the agent made, or take it: a notebook is signed as
 * its user's when all of its cells are trusted.
 */
export function trustAgentsOutputs(
  notebook: INotebookModel,
  isTrusted: boolean
): void {
  for (const model of notebook.cells) {
    if (isCode(model) && model.outputs.toJSON().some(isHeldBack)) {
      if (isTrusted) {
        model.trusted = true;
      } else {
        withdrawTrust(model);
      }
    }
  }
}
