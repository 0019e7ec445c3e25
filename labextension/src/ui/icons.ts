import { LabIcon } from '@jupyterlab/ui-components';

/** The agent: a cell with a spark. */
export const agentIcon = icon(
  'agent',
  `<path d="M4 5h9v2H5v10h14v-4h2v5a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1z"/>
<path d="M7 10h6v1.6H7zM7 13h8v1.6H7z"/>
<path d="M18.5 2l1.1 3.4L23 6.5l-3.4 1.1L18.5 11l-1.1-3.4L14 6.5l3.4-1.1z"/>`
);

/** A paper clip. */
export const attachIcon = icon(
  'attach',
  `<path d="M16.5 6v11.5a4 4 0 0 1-8 0V5a2.5 2.5 0 0 1 5 0v10.5a1 1 0 0 1-2 0V6H10v9.5a2.5 2.5 0 0 0 5 0V5a4 4 0 0 0-8 0v12.5a5.5 5.5 0 0 0 11 0V6z"/>`
);

/** A name in brackets: a variable of the kernel. */
export const variableIcon = icon(
  'variable',
  `<path d="M7 4h2v2H7v12h2v2H5V4zm8 0h4v16h-4v-2h2V6h-2zM9.5 9h1.8l.9 1.8L13.3 9h1.8l-1.9 3 1.9 3h-1.8l-1.1-1.9L11.1 15H9.3l2-3z"/>`
);

/** A spanner: a tool. */
export const toolIcon = icon(
  'tool',
  `<path d="M21.5 7.2a5.3 5.3 0 0 1-7 6.3L7.3 20.700a2.3 2.3 0 0 1-3.3-3.3l7.2-7.2a5.3 5.3 0 0 1 6.3-7L14.3 6.400l.5 2.800 2.800.5z"/>`
);

/** An arrow up. */
export const sendIcon = icon(
  'send',
  `<path d="M12 4l7 7-1.4 1.4L13 7.8V20h-2V7.8l-4.6 4.6L5 11z"/>`
);

/** A triangle with a mark: a warning. */
export const warningIcon = icon(
  'warning',
  `<path d="M12 3 1.5 21h21zm0 4 7 12H5zm-1 4v4h2v-4zm0 5v2h2v-2z"/>`
);

/** A bell: something waits for the user. */
export const waitingIcon = icon(
  'waiting',
  `<path d="M12 22a2.2 2.2 0 0 0 2.2-2H9.800a2.200 2.200 0 0 0 2.200 2zm7-5.500-1.800-1.800V10.500a5.200 5.200 0 0 0-4-5.100V4.700a1.200 1.200 0 0 0-2.400 0v.7a5.200 5.200 0 0 0-4 5.100v4.200L5 16.500V18h14z"/>`
);

/** A notebook with a pencil. */
export const scratchpadIcon = icon(
  'scratchpad',
  `<path d="M6 3h11a1 1 0 0 1 1 1v5.5l-2 2V5H8v14h4.5l-.5 2H6a1 1 0 0 1-1-1v-2.500H3.500v-1.500H5v-3H3.500v-1.500H5v-3H3.500v-1.500H5V4a1 1 0 0 1 1-1z"/>
<path d="M9.500 7.500h5V9h-5zM9.500 11h4v1.500h-4z"/>
<path d="M21.700 12.3l-1-1a1 1 0 0 0-1.400 0l-5.600 5.600L13 20l3.100-.7 5.600-5.600a1 1 0 0 0 0-1.400z"/>`
);

/** An icon of paths in a field of 24 by 24, in the theme's colour of icons. */
function icon(name: string, paths: string): LabIcon {
  return new LabIcon({
    name: `datalayer-agent:${name}`,
    svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">${paths}</g></svg>`
  });
}
