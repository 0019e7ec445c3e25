import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { bridgePlugin } from './bridge/plugin';
import { connectionPlugin } from './connection';
import { panelPlugin } from './panel/plugin';
import { settingsPlugin } from './settings/plugin';

/** The extension's plugins. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [
  bridgePlugin,
  connectionPlugin,
  panelPlugin,
  settingsPlugin
];

export default plugins;
