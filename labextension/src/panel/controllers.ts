import { Op } from '../api/types';
import type { Ask } from './sessionList/ask';
import { ConnectController } from './connect/connectController';
import { ComposerState } from './composer/composerState';
import { DatasetController } from './datasets/datasetController';
import { download } from '../ui/download';
import { IEditor } from '../notebook/editor';
import { FixController } from './conversation/fixController';
import { ToolsPanel } from './toolsPanel/toolsPanel';
import { IActionNotice } from './modelOptions';
import { HistoryController } from './sessionList/historyController';
import { InstructionsController } from './instructions/instructionsController';
import { McpController } from './mcp/mcpController';
import { QualityController } from './quality/qualityController';
import { ScratchpadController } from './scratchpad/scratchpadController';
import { IPanelClient } from '../api/services';
import { IWork } from './composer/messageController';
import { IMemory } from '../ui/memory';
import { ServicesController } from './services/servicesController';
import { SessionController } from './sessionList/sessionController';
import { StrategistController } from './strategist/strategistController';
import { TutorialController } from './tutorials/tutorialController';
import { UsageController } from './usage/usageController';
import { WorkflowController } from './workflows/workflowController';

/** What the controllers of one panel share. */
export interface IPanelServices {
  client: IPanelClient;
  clientId: string;
  editor: IEditor;
  sessions: SessionController;
  composerState: ComposerState;
  /** Put an op on the queue of a session: of the one that is shown, where no other is named. */
  submit: (op: Op, sessionId?: string) => Promise<void>;
  /** Send a message with a ready piece of work. */
  work: (message: string, work: IWork) => Promise<boolean>;
  /** A sentence above the input. */
  notify: (message: string) => void;
  reportError: (error: unknown) => void;
}

/** The controller of what works without a model. */
export function makeToolsPanel(
  services: IPanelServices,
  connect: ConnectController,
  memory: IMemory | null = null
): ToolsPanel {
  const { client, clientId, editor, sessions, work, notify } = services;
  return new ToolsPanel({
    workflows: new WorkflowController(client, (message, workflow) =>
      work(message, { workflow })
    ),
    quality: new QualityController(client, editor, clientId),
    tutorials: new TutorialController(
      client,
      editor,
      clientId,
      memory,
      () => sessions.shown.current.sessionId
    ),
    usage: new UsageController(client),
    connect,
    mcp: new McpController(client.mcp),
    instructions: new InstructionsController(client),
    notify
  });
}

/** The controller of services and their actions. */
export function makeServices(services: IPanelServices): ServicesController {
  const { client, clientId, editor, sessions, submit } = services;
  return new ServicesController({
    client,
    clientId,
    editor,
    sessionId: () => sessions.shown.current.sessionId,
    submit,
    send: services.work,
    reportError: services.reportError
  });
}

/** The controller of fixes of cells that failed. */
export function makeFixes({
  client,
  clientId,
  editor
}: IPanelServices): FixController {
  return new FixController(
    (path, cellId) => client.fixes({ path, cellId, clientId }),
    editor
  );
}

/** The controller of uploads and data sets. */
export function makeDatasets(services: IPanelServices): DatasetController {
  const { client, sessions, composerState, submit, reportError } = services;
  return new DatasetController({
    client,
    place: () => {
      const shown = sessions.shown.current;
      return {
        session: () => sessions.ensure(shown),
        attach: attachment => {
          if (sessions.isShown(shown)) {
            composerState.attach(attachment);
          }
        }
      };
    },
    submit,
    detach: attachment => composerState.detach(attachment),
    reportError
  });
}

/** The controller of the conversation history. */
export function makeHistory(
  services: IPanelServices,
  ask?: Ask
): HistoryController {
  return new HistoryController({
    ...services,
    ask: ask ?? (async () => null),
    keep: download
  });
}

/** The controller of the scratchpad. */
export function makeScratchpad(
  services: IPanelServices,
  notifyAction: (notice: IActionNotice) => void
): ScratchpadController {
  return new ScratchpadController({ ...services, notifyAction });
}

/** The controller of questions about the past. */
export function makeStrategist(
  services: IPanelServices,
  memory: IMemory | null = null
): StrategistController {
  const { client, clientId, sessions } = services;
  return new StrategistController(
    client,
    clientId,
    () => sessions.shown.current.sessionId,
    memory
  );
}
