import { IFormRendererRegistry } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import React from 'react';

/** The command that opens the page on which a model is connected. */
export const OPEN_CONNECT = 'datalayer-agent:connect-model';

/** The command that opens the page of the MCP servers. */
export const OPEN_MCP = 'datalayer-agent:mcp-servers';

/** The value of the form for the pages. No setting has this name, and nothing is saved by it. */
const PAGES = 'pages';

/** The schema with a line for what is set up on pages of the panel, as the first. */
export function withPages(
  schema: ISettingRegistry.ISchema
): ISettingRegistry.ISchema {
  return {
    ...schema,
    properties: {
      [PAGES]: { title: 'Models and MCP servers', type: 'string' },
      ...schema.properties
    }
  };
}

/** Draw that line in the settings editor: buttons that open the pages. */
export function drawPages(
  renderers: IFormRendererRegistry,
  settingsId: string,
  commands: CommandRegistry
): void {
  const pages = [
    { label: 'Connect a model', command: OPEN_CONNECT },
    { label: 'MCP servers', command: OPEN_MCP }
  ];
  renderers.addRenderer(`${settingsId}.${PAGES}`, {
    fieldRenderer: () => (
      <fieldset className="da-settings-pages">
        <legend>Models and MCP servers</legend>
        <p>They are set up in the panel.</p>
        {pages.map(({ label, command }) => (
          <button
            key={command}
            type="button"
            className="jp-mod-styled jp-mod-reject"
            onClick={() => void commands.execute(command)}
          >
            {label}
          </button>
        ))}
      </fieldset>
    )
  });
}
