import { AgentClient } from '../api/client';
import { IPageConnection } from '../api/connection';

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

/** Where the page remembers which session, or which tutorial, it shows; `null` forgets. */
export interface IMemory {
  load(): Promise<string | null>;
  save(value: string | null): void;
}

/** Where the page remembers which session it shows. */
export type ISessionMemory = IMemory;
