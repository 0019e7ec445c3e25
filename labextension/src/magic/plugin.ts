import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { Notebook, NotebookActions } from '@jupyterlab/notebook';

import { isAgentsRun } from '../notebook/kernel/agentRuns';

const MAGIC = /^\s*(%%?agent\b|%(re)?load_ext\s+jupyter_datalayer_agent\b)/;

/** The warning for a user who runs the magic in a kernel that is not Python, or null. */
export function advice(source: string, language: string): string | null {
  if (!MAGIC.test(source) || !language || /python/i.test(language)) {
    return null;
  }
  return (
    `%agent works in Python kernels, and this one is ${language}. ` +
    'The chat in a cell and the agent’s panel work with any kernel.'
  );
}

/** Says what to do when the magic is run in a kernel that does not know magics. */
export const magicPlugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-datalayer-agent:magic',
  description: 'Advice on the %agent magic in kernels of other languages.',
  autoStart: true,
  activate: (_app: JupyterFrontEnd): void => {
    NotebookActions.executed.connect((_, { notebook, cell }) => {
      if (isAgentsRun(cell)) {
        return;
      }
      const warning = advice(
        cell.model.sharedModel.source,
        languageOf(notebook)
      );
      if (warning) {
        Notification.warning(warning, { autoClose: 10_000 });
      }
    });
  }
};

function languageOf(notebook: Notebook): string {
  return notebook.model?.defaultKernelLanguage ?? '';
}
