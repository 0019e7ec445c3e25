import { AgentClient } from './client';
import { IPageConnection } from './connection';

/** The HTTP routes that the panel uses. */
export type IPanelClient = Pick<
  AgentClient,
  | 'listSessions'
  | 'createSession'
  | 'getSession'
  | 'patchSession'
  | 'deleteSession'
  | 'listTurns'
  | 'listPrompts'
  | 'forkSession'
  | 'exportSession'
  | 'turnChanges'
  | 'search'
  | 'getTurn'
  | 'askStrategist'
  | 'strategist'
  | 'addToScratchpad'
  | 'context'
  | 'variables'
  | 'listTools'
  | 'models'
  | 'listWorkflows'
  | 'fixes'
  | 'quality'
  | 'usage'
  | 'listTutorials'
  | 'startTutorial'
  | 'checkLesson'
  | 'callTool'
  | 'listDatasets'
  | 'deleteDataset'
  | 'upload'
>;

/** What the panel uses of the page's one connection. */
export type IPanelConnection = Pick<
  IPageConnection,
  | 'clientId'
  | 'status'
  | 'statusChanged'
  | 'reconnecting'
  | 'rejected'
  | 'waiting'
  | 'waitingChanged'
  | 'connect'
  | 'submit'
  | 'subscribe'
  | 'inputFocused'
>;
