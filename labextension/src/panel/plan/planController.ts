import { messageOf } from '../../api/errors';
import { Event, NewPlanStep, Op } from '../../api/types';
import { IDraftStep, IPlanDraft, PlanDrafts } from './planDrafts';
import { IPlan } from '../../session/plan';
import { Observable } from '../../session/observable';

/** What was asked about a plan and is not carried out yet. */
export interface IAskedOfPlan {
  turnId: string;
  act: 'approve' | 'reject' | 'skip' | 'pause' | 'resume';
}

/** Puts an op on the queue of the session that is shown; rejects with an `ApiError`. */
export type SubmitOp = (op: Op) => Promise<unknown>;

/**
 * The user's decisions on plans, and the plan that is being edited.
 *
 * The draft stands here and not in what is drawn, so that nothing that is typed is lost when the
 * panel is drawn anew, or when the server refuses it; it outlives a reload of the page, too.
 */
export class PlanController {
  constructor(
    private readonly _submit: SubmitOp,
    private readonly _reportError: (error: unknown) => void,
    private readonly _kept = new PlanDrafts()
  ) {}

  readonly draft = new Observable<IPlanDraft | null>(null);
  readonly asked = new Observable<IAskedOfPlan | null>(null);

  approve(turnId: string): void {
    this._ask(
      { turnId, act: 'approve' },
      { type: 'plan_decision', decision: 'approve' }
    );
  }

  reject(turnId: string): void {
    this._ask(
      { turnId, act: 'reject' },
      { type: 'plan_decision', decision: 'reject' }
    );
  }

  /** Go on without the action that the plan waits for. */
  skip(turnId: string): void {
    this._ask(
      { turnId, act: 'skip' },
      { type: 'plan_decision', decision: 'skip' }
    );
  }

  /** Pause at the end of the step that is carried out now. */
  pause(turnId: string): void {
    this._ask({ turnId, act: 'pause' }, { type: 'pause' });
  }

  /** Go on with a plan that is paused or has stopped. */
  resume(turnId: string): void {
    this._ask({ turnId, act: 'resume' }, { type: 'resume' });
  }

  /** Begin to edit a plan that waits. */
  edit(turnId: string, plan: IPlan): void {
    const steps = plan.steps.map(step => ({
      key: this._nextKey++,
      description: step.description,
      source: step,
      isDone: step.status === 'completed' || step.status === 'skipped'
    }));
    this._keep({ turnId, base: plan.steps, steps, isSending: false });
  }

  /** Go on with what was edited of a plan that still waits as it was, before a reload. */
  restore(turnId: string, plan: IPlan): void {
    if (draftOf(this.draft.current, turnId, plan)) {
      return;
    }
    const kept = this._kept.load(turnId);
    const draft = kept && { ...kept, isSending: false, isRestored: true };
    if (draft && draftOf(draft, turnId, plan)) {
      const keys = draft.steps.map(({ key }) => key);
      this._nextKey = Math.max(this._nextKey, ...keys.map(key => key + 1));
      this.draft.set(draft);
    }
  }

  /** Forget the draft. */
  cancel(): void {
    const draft = this.draft.current;
    if (draft) {
      this._kept.forget(draft.turnId);
      this.draft.set(null);
    }
  }

  write(key: number, description: string): void {
    this._change(steps =>
      steps.map(step => (step.key === key ? { ...step, description } : step))
    );
  }

  /** Add an empty step, after another or at the end; its key. */
  add(after?: number): number {
    const key = this._nextKey++;
    this._change(steps => {
      const at = steps.findIndex(step => step.key === after);
      const added = { key, description: '', isDone: false };
      return at < 0 ? [...steps, added] : insert(steps, at + 1, added);
    });
    return key;
  }

  remove(key: number): void {
    this._change(steps => steps.filter(step => step.key !== key));
  }

  /** Move a step up (-1) or down (1), among those that are not done; its place then, from 0. */
  move(key: number, by: -1 | 1): number | null {
    const steps = this.draft.current?.steps ?? [];
    const from = steps.findIndex(step => step.key === key);
    const to = from + by;
    if (from < 0 || !steps[to] || steps[to].isDone || steps[from].isDone) {
      return null;
    }
    this._change(now =>
      insert(
        now.filter(step => step.key !== key),
        to,
        steps[from]
      )
    );
    return to;
  }

  /** Have the edited steps carried out; the draft stays until the server has taken them. */
  run(): void {
    const draft = this.draft.current;
    if (!draft || draft.isSending) {
      return;
    }
    this.draft.set({ ...draft, isSending: true, problem: undefined });
    const steps = draft.steps.map(sent);
    this._submit({ type: 'plan_decision', decision: 'edit', steps }).catch(
      (error: unknown) => this._refused(messageOf(error))
    );
  }

  /** Follow what becomes of it. True for a refusal that is shown at the editor. */
  onEvent(event: Event): boolean {
    if (event.type === 'error' && !event.turnId) {
      this.asked.set(null);
      return this._refused(event.message);
    }
    if (
      (event.type === 'plan_updated' && event.state) ||
      event.type === 'turn_completed' ||
      event.type === 'turn_aborted' ||
      event.type === 'turn_started'
    ) {
      this._moved(event);
    }
    return false;
  }

  private _moved(event: Event): void {
    const asked = this.asked.current;
    const isRunning =
      event.type === 'plan_updated' && event.state === 'running';
    // A pause comes only at the end of the step.
    if (asked && !(asked.act === 'pause' && isRunning)) {
      this.asked.set(null);
    }
    const draft = this.draft.current;
    const isOver =
      event.type === 'turn_completed' || event.type === 'turn_aborted';
    if (draft?.turnId === event.turnId && (isRunning || isOver)) {
      // Taken, or decided in another tab.
      this.cancel();
    } else if (isOver && event.turnId) {
      this._kept.forget(event.turnId);
    }
  }

  private _refused(problem: string): boolean {
    const draft = this.draft.current;
    if (!draft?.isSending) {
      return false;
    }
    this.draft.set({ ...draft, isSending: false, problem });
    return true;
  }

  private _ask(asked: IAskedOfPlan, op: Op): void {
    this.asked.set(asked);
    this._submit(op).catch((error: unknown) => {
      this.asked.set(null);
      this._reportError(error);
    });
  }

  private _change(
    change: (steps: readonly IDraftStep[]) => readonly IDraftStep[]
  ): void {
    const draft = this.draft.current;
    if (draft) {
      this._keep({
        ...draft,
        steps: change(draft.steps),
        problem: undefined
      });
    }
  }

  private _keep(draft: IPlanDraft): void {
    this._kept.save(draft);
    this.draft.set(draft);
  }

  private _nextKey = 1;
}

/** The draft of this plan, unless the plan has moved on since it was begun. */
export function draftOf(
  draft: IPlanDraft | null,
  turnId: string,
  plan: IPlan
): IPlanDraft | null {
  const isSame =
    draft?.turnId === turnId &&
    draft.base.length === plan.steps.length &&
    draft.base.every(
      ({ description, status }, index) =>
        description === plan.steps[index].description &&
        status === plan.steps[index].status
    );
  return isSame ? draft : null;
}

/** A step as it is sent: one that is done as it is; the order is the user's alone. */
function sent({ description, source, isDone }: IDraftStep): NewPlanStep {
  const text = description.trim();
  if (source && (isDone || text === source.description)) {
    const { toolCalls, status } = source;
    const step = { description: source.description, toolCalls };
    return isDone ? { ...step, status } : { ...step, status: 'pending' };
  }
  // The tools that were planned for other words are no help.
  return { description: text, toolCalls: [], status: 'pending' };
}

function insert<T>(list: readonly T[], at: number, item: T): T[] {
  return [...list.slice(0, at), item, ...list.slice(at)];
}
