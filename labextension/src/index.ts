import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { bridgePlugin } from './bridge/plugin';
import { changesPlugin } from './changes/plugin';
import { connectionPlugin } from './connection';
import { errorsPlugin } from './errors/plugin';
import { inlinePlugin } from './inline/plugin';
import { magicPlugin } from './magic/plugin';
import { panelPlugin } from './panel/plugin';
import { settingsPlugin } from './settings/plugin';
import { suggestPlugin } from './suggest/plugin';

/** The extension's plugins. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [
  bridgePlugin,
  changesPlugin,
  connectionPlugin,
  errorsPlugin,
  inlinePlugin,
  magicPlugin,
  panelPlugin,
  settingsPlugin,
  suggestPlugin
];

export default plugins;
