import {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';

/** The extension's main plugin. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-datalayer-agent:plugin',
  description: 'An AI agent that lives in JupyterLab.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    app.shell.node.dataset.datalayerAgent = 'active';
  }
};

export default plugin;
