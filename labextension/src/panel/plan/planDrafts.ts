import { PlanStep } from '../../api/types';
import { TabDrafts } from '../../ui/tabDrafts';

/** A step as the user writes it; `key` stays with it while it moves. */
export interface IDraftStep {
  key: number;
  description: string;
  /** The step that it was made of; a new one has none. */
  source?: PlanStep;
  isDone: boolean;
}

/** A plan that is being edited. */
export interface IPlanDraft {
  turnId: string;
  /** The steps of the plan when the user began. */
  base: readonly PlanStep[];
  steps: readonly IDraftStep[];
  isSending: boolean;
  /** It was begun before the page was loaded anew. */
  isRestored?: boolean;
  /** Why the server refused the steps. */
  problem?: string;
}

/** What is kept of a draft; the steps as the editor has them. */
type StoredDraft = Pick<IPlanDraft, 'turnId' | 'base' | 'steps'>;

/**
 * Keeps the steps of a plan that is being edited over a reload: those of each turn apart, in this
 * tab alone.
 */
export class PlanDrafts {
  constructor(tab?: Storage) {
    this._drafts = new TabDrafts('datalayer-agent:plan:', tab);
  }

  /** The draft of a turn's plan; null where none was kept. */
  load(turnId: string): StoredDraft | null {
    const text = this._drafts.load(turnId);
    if (!text) {
      return null;
    }
    try {
      const { base, steps } = JSON.parse(text) as Partial<StoredDraft>;
      return Array.isArray(base) && Array.isArray(steps)
        ? { turnId, base: base as PlanStep[], steps }
        : null;
    } catch {
      // Another version of the page wrote it: the plan as it was proposed is edited anew.
      return null;
    }
  }

  save({ turnId, base, steps }: StoredDraft): void {
    this._drafts.save(turnId, JSON.stringify({ base, steps }));
  }

  forget(turnId: string): void {
    this._drafts.save(turnId, '');
  }

  private readonly _drafts: TabDrafts;
}
