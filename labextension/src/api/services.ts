import { AgentClient } from './client';
import { IPageConnection } from './pageConnection';

/** The HTTP routes that the panel uses. */
export type IPanelClient = Omit<
  AgentClient,
  'acts' | 'config' | 'configure' | 'nextCell' | 'nextFix' | 'settings'
>;

/** What the panel uses of the page's one connection. */
export type IPanelConnection = Omit<
  IPageConnection,
  | 'connected'
  | 'fileWritten'
  | 'onRequest'
  | 'panelShown'
  | 'sendEditorState'
  | 'touched'
>;
