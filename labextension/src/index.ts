import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { bridgePlugin } from './bridge/plugin';
import { connectionPlugin } from './connection';
import { panelPlugin } from './panel/plugin';

/** The extension's plugins. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [
  bridgePlugin,
  connectionPlugin,
  panelPlugin
];

export default plugins;
