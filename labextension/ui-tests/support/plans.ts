import { Locator } from '@playwright/test';

import { Step } from './model';
import { AgentPanel } from './panel';

/** The model's answer with a plan of these steps. */
export function planOf(...steps: string[]): Step {
  return {
    say: JSON.stringify({
      steps: steps.map(description => ({
        description,
        toolCalls: ['addNotebookCell']
      })),
      requiredTools: ['addNotebookCell'],
      estimatedDuration: 'a minute'
    })
  };
}

/** Add a code cell at the end, and run it. */
export function add(content: string): Step {
  return {
    call: 'addNotebookCell',
    arguments: { type: 'code', content, run: true }
  };
}

/** The cell that the newest tool call was about. */
export const LAST_CELL = { regex: '"cellId": ?"([^"]+)"' };

/** The pinned plan in the panel. */
export class PlanPart {
  constructor(panel: AgentPanel) {
    const { root } = panel;
    this.root = root.getByTestId('da-plan');
    this.steps = this.root.locator('.da-step');
    this.approve = this.root.getByTestId('da-plan-approve');
    this.reject = this.root.getByTestId('da-plan-reject');
    this.edit = this.root.getByTestId('da-plan-edit');
    this.pause = this.root.getByTestId('da-plan-pause');
    this.fields = this.root.getByTestId('da-plan-step');
    this.run = this.root.getByTestId('da-plan-run');
    // Shown at a plan that is paused, and where one stopped.
    this.continue = root.getByTestId('da-plan-continue');
    this.kept = root.getByTestId('da-kept-plan');
  }

  readonly root: Locator;
  readonly steps: Locator;
  readonly approve: Locator;
  readonly reject: Locator;
  readonly edit: Locator;
  readonly pause: Locator;
  readonly fields: Locator;
  readonly run: Locator;
  readonly continue: Locator;
  readonly kept: Locator;
}
