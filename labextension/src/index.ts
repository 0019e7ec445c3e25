import { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { clientPlugin, connectionPlugin } from './api/plugin';
import { bridgePlugin } from './bridge/plugin';
import { changesPlugin } from './changes/plugin';
import { errorsPlugin } from './errors/plugin';
import { heldPlugin } from './held/plugin';
import { inlinePlugin } from './inline/plugin';
import { lexicalPlugin } from './lexical/plugin';
import { magicPlugin } from './magic/plugin';
import { documentsPlugin } from './notebook/plugin';
import {
  attachmentOpenersPlugin,
  chatCommandsPlugin,
  inputToolbarPlugin
} from './panel/composer/registries';
import { panelPlugin } from './panel/plugin';
import { settingsPlugin } from './settings/plugin';
import { suggestPlugin } from './suggest/plugin';

/** The extension's plugins. */
const plugins: JupyterFrontEndPlugin<unknown>[] = [
  attachmentOpenersPlugin,
  bridgePlugin,
  changesPlugin,
  chatCommandsPlugin,
  clientPlugin,
  connectionPlugin,
  documentsPlugin,
  errorsPlugin,
  heldPlugin,
  inlinePlugin,
  inputToolbarPlugin,
  lexicalPlugin,
  magicPlugin,
  panelPlugin,
  settingsPlugin,
  suggestPlugin
];

/** What other extensions can use, by JupyterLab's sharing of packages. */
export * from './tokens';

export default plugins;
