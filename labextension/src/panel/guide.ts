import { QualityDesk } from './qualityDesk';
import { TutorialDesk } from './tutorialDesk';
import { UsageDesk } from './usageDesk';
import { placeText } from './state/lessons';
import { Value } from './state/value';
import { WorkflowDesk } from './workflowDesk';

/** A command, as the help names it; `takes`: whether something may be typed after it. */
export interface ICommandWords {
  name: string;
  description: string;
  takes: boolean;
}

/** What stands in the card above the conversation. */
export type Card =
  | { kind: 'workflows' }
  | { kind: 'workflow'; id: string }
  | { kind: 'quality' }
  | { kind: 'usage' }
  | { kind: 'datasets' }
  | { kind: 'tutorials' }
  | { kind: 'strategist' }
  | { kind: 'help'; commands: readonly ICommandWords[] }
  | { kind: 'lesson' };

/** What `Guide` is made of. */
export interface IGuideParts {
  workflows: WorkflowDesk;
  quality: QualityDesk;
  tutorials: TutorialDesk;
  usage: UsageDesk;
  /** A sentence above the input. */
  say: (message: string) => void;
}

/** What works without a model, and the card in which it is shown. */
export class Guide {
  constructor(parts: IGuideParts) {
    this.workflows = parts.workflows;
    this.quality = parts.quality;
    this.tutorials = parts.tutorials;
    this.usage = parts.usage;
    this._say = parts.say;
    this.tutorials.place.subscribe(() => this._onPlace());
  }

  readonly workflows: WorkflowDesk;
  readonly quality: QualityDesk;
  readonly tutorials: TutorialDesk;
  readonly usage: UsageDesk;
  readonly card = new Value<Card | null>(null);

  /** Show the tutorial that was open before a reload. */
  start(): Promise<void> {
    return this.tutorials.restore();
  }

  showWorkflows(): void {
    this.card.set({ kind: 'workflows' });
    void this.workflows.refresh();
  }

  showWorkflow(id: string): void {
    this.card.set({ kind: 'workflow', id });
    void this.workflows.refresh();
  }

  /** The report of the notebook in front. */
  showQuality(): void {
    if (this.quality.checkFront()) {
      this.card.set({ kind: 'quality' });
    } else {
      this._say('Open a notebook, then its quality can be checked.');
    }
  }

  /** What was used in the last days. */
  showUsage(): void {
    this.card.set({ kind: 'usage' });
    void this.usage.show();
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

  /** Close the card; a tutorial that is closed so is not shown again by itself. */
  close(): void {
    if (this.card.current?.kind === 'lesson') {
      this.tutorials.close();
    }
    this.card.set(this.tutorials.place.current ? { kind: 'lesson' } : null);
  }

  /** Another lesson comes up by itself: with the notebook in front, or after a reload. */
  private _onPlace(): void {
    const { id, lesson } = this.tutorials.place.current ?? {};
    const shown = id ? placeText(id, lesson ?? 0) : null;
    if (shown && shown !== this._shown) {
      this.card.set({ kind: 'lesson' });
    }
    this._shown = shown;
  }

  private readonly _say: (message: string) => void;
  private _shown: string | null = null;
}
