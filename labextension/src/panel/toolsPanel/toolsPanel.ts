import { IActionId } from '../../actions/host';
import { ConnectController } from '../connect/connectController';
import { InstructionsController } from '../instructions/instructionsController';
import { McpController } from '../mcp/mcpController';
import { QualityController } from '../quality/qualityController';
import { TutorialController } from '../tutorials/tutorialController';
import { UsageController } from '../usage/usageController';
import { placeText } from '../tutorials/lessons';
import { Observable } from '../../session/observable';
import { WorkflowController } from '../workflows/workflowController';

/** A command, as the help names it; `takes`: whether something may be typed after it. */
export interface ICommandHelp {
  name: string;
  description: string;
  takes: boolean;
}

/** The choice of models for a message, or with `turnId` for one that was answered. */
export interface ICompareCard {
  kind: 'compare';
  /** What was typed of the message. */
  question: string;
  turnId?: string;
  /** Why it was not sent as it was typed. */
  problem?: string;
}

/** The content of the card under the conversation. */
export type Card =
  | { kind: 'workflows' }
  | { kind: 'workflow'; id: string; initial?: Record<string, unknown> }
  | { kind: 'quality' }
  | { kind: 'usage' }
  | ICompareCard
  | { kind: 'connect' }
  | { kind: 'datasets' }
  | { kind: 'mcp' }
  | { kind: 'tutorials' }
  | { kind: 'strategist' }
  | { kind: 'actions' }
  | { kind: 'action'; id: IActionId }
  | { kind: 'lesson' };

/** Cards that are no more than lists to choose from. */
const LISTS: readonly Card['kind'][] = [
  'actions',
  'connect',
  'mcp',
  'workflows',
  'tutorials'
];

/** What `ToolsPanel` is made of. */
export interface IToolsPanelOptions {
  workflows: WorkflowController;
  quality: QualityController;
  tutorials: TutorialController;
  usage: UsageController;
  connect: ConnectController;
  mcp: McpController;
  instructions: InstructionsController;
  /** A sentence above the input. */
  notify: (message: string) => void;
}

/** What works without a model, and the card in which it is shown. */
export class ToolsPanel {
  constructor(parts: IToolsPanelOptions) {
    this.workflows = parts.workflows;
    this.quality = parts.quality;
    this.tutorials = parts.tutorials;
    this.usage = parts.usage;
    this.connect = parts.connect;
    this.mcp = parts.mcp;
    this.instructions = parts.instructions;
    this._notify = parts.notify;
    this.tutorials.place.subscribe(() => this._onPlace());
  }

  readonly workflows: WorkflowController;
  readonly quality: QualityController;
  readonly tutorials: TutorialController;
  readonly usage: UsageController;
  readonly connect: ConnectController;
  readonly mcp: McpController;
  readonly instructions: InstructionsController;
  readonly card = new Observable<Card | null>(null);

  /** Show the tutorial that was open before a reload. */
  start(): Promise<void> {
    return this.tutorials.restore();
  }

  showWorkflows(): void {
    this.card.set({ kind: 'workflows' });
    void this.workflows.refresh();
  }

  /** The form of a workflow, filled in with `initial`. */
  showWorkflow(id: string, initial?: Record<string, unknown>): void {
    this.card.set({ kind: 'workflow', id, initial });
    void this.workflows.refresh();
  }

  /** The report of a notebook; without a path, of the active one. */
  showQuality(path = this.quality.activeNotebook): void {
    if (path) {
      void this.quality.check(path);
      this.card.set({ kind: 'quality' });
    } else {
      this._notify('Open a notebook to check its quality.');
    }
  }

  /** All actions of the services, to choose one from. */
  showActions(): void {
    this.card.set({ kind: 'actions' });
  }

  /** The form of an action. */
  showAction(id: IActionId): void {
    this.card.set({ kind: 'action', id });
  }

  /** What was used in the last days. */
  showUsage(): void {
    this.card.set({ kind: 'usage' });
    void this.usage.show();
  }

  /** Connecting a model: by a key, on this computer, at an address. */
  showConnect(): void {
    this.card.set({ kind: 'connect' });
    void this.connect.open();
  }

  /** MCP servers, their tools, and what is trusted. */
  showMcp(): void {
    this.card.set({ kind: 'mcp' });
    void this.mcp.refresh();
    void this.instructions.refresh();
  }

  /** The question to the Strategist that was asked last, and its answer. */
  showStrategist(): void {
    this.card.set({ kind: 'strategist' });
  }

  showTutorials(): void {
    this.card.set({ kind: 'tutorials' });
    void this.tutorials.refresh();
  }

  /** Start a tutorial, or go on with it. */
  async openTutorial(id: string): Promise<void> {
    if (await this.tutorials.open(id)) {
      this.card.set({ kind: 'lesson' });
    } else {
      this.card.set({ kind: 'tutorials' });
    }
  }

  /** A message was sent: a list to choose from is closed, since something was chosen. */
  sent(): void {
    const { current } = this.card;
    if (current && LISTS.includes(current.kind)) {
      this.close();
    }
  }

  /** Close the card; a tutorial that is closed so is not shown again by itself. */
  close(): void {
    if (this.card.current?.kind === 'lesson') {
      this.tutorials.close();
    }
    this.card.set(this.tutorials.place.current ? { kind: 'lesson' } : null);
  }

  /** Another lesson comes up by itself: with the active notebook, or after a reload. */
  private _onPlace(): void {
    const { id, lesson } = this.tutorials.place.current ?? {};
    const shown = id ? placeText(id, lesson ?? 0) : null;
    if (shown && shown !== this._shown) {
      this.card.set({ kind: 'lesson' });
    }
    this._shown = shown;
  }

  private readonly _notify: (message: string) => void;
  private _shown: string | null = null;
}
