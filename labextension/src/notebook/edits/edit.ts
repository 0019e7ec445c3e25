import type * as nbformat from '@jupyterlab/nbformat';
import type { YNotebook } from '@jupyter/ydoc';
import { NotebookPanel } from '@jupyterlab/notebook';
import { PartialJSONValue } from '@lumino/coreutils';

import { CellEdit, PageNotebook, PageRequestError } from '../../api';
import { asMadeByAgent, isHeldBack } from '../agentMark';
import { CellReader, indexOf, indicesOf, sharedNotebook } from '../cells';
import { withdrawTrust } from '../trust';
import { IEditPlan, IOutputsStep, planEdits, Step } from './editPlan';
import { withoutPlaceholder } from './placeholder';
import { keepingView } from '../view';

/**
 * Apply a batch of edits to an open notebook, whole or not at all, and read the touched cells back.
 *
 * It is one step of the notebook's undo, of its own; each cell's undo, which holds the user's
 * typing, is not touched. The notebook is not saved.
 */
export function applyEdits(
  panel: NotebookPanel,
  edits: readonly CellEdit[],
  reader: CellReader
): PageNotebook {
  const notebook = sharedNotebook(panel);
  if (panel.content.model!.readOnly) {
    throw new PageRequestError('invalid', 'The notebook is read-only.');
  }
  const plan = withoutPlaceholder(panel, edits, batch =>
    planEdits(panel, batch, reader)
  );
  const apply = () => {
    applySteps(notebook, plan.steps);
    applyOutputs(panel, plan.outputs);
  };
  if (plan.steps.length) {
    keepingView(panel.content, apply);
  } else {
    apply();
  }
  return readBack(panel, plan, reader);
}

function applySteps(notebook: YNotebook, steps: readonly Step[]): void {
  if (!steps.length) {
    return;
  }
  // Changes within half a second of each other are one step of the undo, unless set otherwise.
  notebook.undoManager.stopCapturing();
  // In here `notebook.cells` stays what it was before: a step has its place from the plan.
  notebook.transact(() => {
    for (const step of steps) {
      switch (step.kind) {
        case 'insert':
          notebook.insertCell(step.index, step.cell);
          break;
        case 'delete':
          notebook.deleteCell(step.index);
          break;
        case 'splice': {
          const { start, end, insert } = step.splice;
          step.cell.updateSource(start, end, insert);
          break;
        }
        case 'mark':
          step.cell.setMetadata(asMadeByAgent(step.cell.getMetadata()));
          break;
        case 'restore':
          restore(step);
          break;
        default:
          step satisfies never;
      }
    }
  });
  notebook.undoManager.stopCapturing();
}

/** Metadata, attachments and outputs of a cell; inside the batch's transaction, so undone with it. */
function restore({
  cell,
  model,
  whole
}: Extract<Step, { kind: 'restore' }>): void {
  const { trusted, ...metadata } = whole.metadata ?? {};
  for (const key of Object.keys(cell.getMetadata())) {
    if (!(key in metadata) && key !== 'trusted') {
      cell.deleteMetadata(key);
    }
  }
  for (const [key, value] of Object.entries(metadata)) {
    cell.setMetadata(key, value as PartialJSONValue);
  }
  if (cell.cell_type === 'code') {
    // Outputs of unknown origin must not become trusted by coming back.
    model.trusted = trusted === true;
    cell.setOutputs((whole.outputs ?? []) as nbformat.IOutput[]);
    cell.setExecutionCount((whole.execution_count ?? null) as number | null);
  } else {
    cell.setAttachments(whole.attachments as nbformat.IAttachments | undefined);
  }
}

function applyOutputs(
  panel: NotebookPanel,
  outputs: readonly IOutputsStep[]
): void {
  const notebook = sharedNotebook(panel);
  for (const { cellId, outputs: value, executionCount } of outputs) {
    const index = indexOf(notebook, cellId);
    const cell = notebook.cells[index];
    if (cell?.cell_type === 'code') {
      const model = panel.content.model!.cells.get(index);
      if (value.some(isHeldBack)) {
        withdrawTrust(model);
      } else {
        // The server ran the cell: JupyterLab trusts what runs in a page.
        model.trusted = true;
      }
      // Set over others, JupyterLab would join the text of an old stream with that of a new one.
      cell.setOutputs([]);
      cell.setOutputs(value);
      cell.setExecutionCount(executionCount);
    }
  }
}

/** The touched cells as the document has them; throws where that is not what was asked for. */
function readBack(
  panel: NotebookPanel,
  plan: IEditPlan,
  reader: CellReader
): PageNotebook {
  const ids = [...plan.expected.keys()];
  const result = reader.read(panel, indicesOf(sharedNotebook(panel), ids));
  for (const cell of result.cells) {
    const { source, type } = plan.expected.get(cell.id)!;
    if (cell.source !== source || cell.type !== type) {
      throw new PageRequestError(
        'internal',
        `Cell ${cell.id} was changed, but does not read back as it was written.`
      );
    }
  }
  return result;
}
