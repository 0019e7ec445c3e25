import { PathExt } from '@jupyterlab/coreutils';
import { NotebookPanel } from '@jupyterlab/notebook';

import { Provenance } from '../../api/types';
import { KEY } from '../../notebook/agentMark';

/** The notebook that is a scratchpad by its name. */
export const SCRATCHPAD = 'scratchpad.ipynb';

/** Where a cell comes from. */
export interface IOrigin {
  turnId: string;
  sessionId?: string;
  responseType: Provenance['responseType'];
}

/** What our metadata says about a cell's origin; null where it says none, or something else. */
export function originOf(metadata: unknown): IOrigin | null {
  const { provenance, sessionId } = (metadata ?? {}) as {
    provenance?: Partial<Provenance>;
    sessionId?: unknown;
  };
  const turnId = provenance?.aiTurnId;
  // A cell that says why there is no answer comes from no turn.
  return typeof turnId === 'string' &&
    turnId &&
    provenance?.providerId !== 'error'
    ? {
        turnId,
        sessionId: typeof sessionId === 'string' ? sessionId : undefined,
        responseType: provenance?.responseType ?? 'batch'
      }
    : null;
}

/** "From a session", "From the Strategist". */
export function originLabel({ responseType }: IOrigin): string {
  switch (responseType) {
    case 'synthesis':
      return 'From the Strategist';
    case 'summary':
      return 'From a summary';
    case 'plan':
      return 'From a plan';
    case 'proposal':
      return 'From a proposal';
    default:
      return 'From a session';
  }
}

/** Whether a notebook is a scratchpad: by its name, or since the user says so. */
export function isScratchpad(panel: NotebookPanel): boolean {
  return PathExt.basename(panel.context.path) === SCRATCHPAD || isMarked(panel);
}

/** Whether the user uses the notebook as a scratchpad. */
export function isMarked(panel: NotebookPanel): boolean {
  const about = panel.context.isReady && panel.model?.getMetadata(KEY);
  return !!about && (about as { scratchpad?: unknown }).scratchpad === true;
}

/** Say that a notebook is, or is not, used as a scratchpad. */
export function mark(panel: NotebookPanel, isWanted: boolean): void {
  const { scratchpad: _, ...others } = (panel.model?.getMetadata(KEY) ??
    {}) as Record<string, unknown>;
  const about = isWanted ? { ...others, scratchpad: true } : others;
  if (Object.keys(about).length) {
    panel.model?.setMetadata(KEY, about);
  } else {
    panel.model?.deleteMetadata(KEY);
  }
}
