import { Op, WorkflowCall } from '../api/types';
import type { Ask } from './ask';
import { Choices } from './choices';
import { DatasetDesk } from './datasetDesk';
import { download } from './download';
import { IEditor } from './editor';
import { FixDesk } from './fixDesk';
import { Guide } from './guide';
import { ITold } from './modelOptions';
import { PastDesk } from './pastDesk';
import { QualityDesk } from './qualityDesk';
import { ScratchpadDesk } from './scratchpadDesk';
import { IMemory, IPanelClient } from './services';
import { SessionDesk } from './sessionDesk';
import { StrategistDesk } from './strategistDesk';
import { TutorialDesk } from './tutorialDesk';
import { UsageDesk } from './usageDesk';
import { WorkflowDesk } from './workflowDesk';

/** What the desks of one panel share. */
export interface IWays {
  client: IPanelClient;
  clientId: string;
  editor: IEditor;
  sessions: SessionDesk;
  choices: Choices;
  /** Put an op on the queue of the session that is shown. */
  order: (op: Op) => Promise<void>;
  /** Send a message with a ready piece of work. */
  work: (message: string, workflow: WorkflowCall) => Promise<boolean>;
  /** A sentence above the input. */
  say: (message: string) => void;
  tell: (error: unknown) => void;
}

/** The desk for what works without a model. */
export function makeGuide(ways: IWays, memory: IMemory | null): Guide {
  const { client, clientId, editor, work, say } = ways;
  return new Guide({
    workflows: new WorkflowDesk(client, work),
    quality: new QualityDesk(client, editor, clientId),
    tutorials: new TutorialDesk(client, editor, clientId, memory),
    usage: new UsageDesk(client),
    say
  });
}

/** The desk for repairs of cells that failed. */
export function makeFixes({ client, clientId, editor }: IWays): FixDesk {
  return new FixDesk(
    (path, cellId) => client.fixes({ path, cellId, clientId }),
    editor
  );
}

/** The desk for uploads and data sets. */
export function makeDatasets(ways: IWays): DatasetDesk {
  const { client, sessions, choices, order, tell } = ways;
  return new DatasetDesk({
    client,
    ensureSession: () => sessions.ensure(),
    order,
    attach: attachment => choices.attach(attachment),
    detach: attachment => choices.detach(attachment),
    tell
  });
}

/** The desk for what was said so far. */
export function makePast(ways: IWays, ask?: Ask): PastDesk {
  return new PastDesk({
    ...ways,
    ask: ask ?? (async () => null),
    keep: download
  });
}

/** The desk for the scratchpad. */
export function makeScratchpad(
  ways: IWays,
  inform: (told: ITold) => void
): ScratchpadDesk {
  return new ScratchpadDesk({ ...ways, inform });
}

/** The desk for questions about the past. */
export function makeStrategist(
  ways: IWays,
  memory: IMemory | null
): StrategistDesk {
  const { client, clientId, sessions } = ways;
  return new StrategistDesk(
    client,
    clientId,
    () => sessions.shown.current.sessionId,
    memory
  );
}
