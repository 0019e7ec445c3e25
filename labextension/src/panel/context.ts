import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { createContext, useContext, useMemo } from 'react';

import { CodeController } from './codeActions/codeController';
import { PanelModel } from './model';
import { LabelOf } from '../session/cellNames';
import { CellNumber } from '../session/callLabels';

/** What every component of the panel may use. */
export interface IPanelContext {
  model: PanelModel;
  rendermime: IRenderMimeRegistry;
  openSettings: () => void;
  /** What can be done with the code of answers; nothing where there are no notebooks. */
  code?: CodeController;
}

/** The context of the panel's components. */
export const PanelContext = createContext<IPanelContext | null>(null);

/** The turn around a component; null where there is none. */
export const TurnContext = createContext<string | null>(null);

/** The panel's context. */
export function usePanel(): IPanelContext {
  const context = useContext(PanelContext);
  if (!context) {
    throw new Error('There is no panel around this component.');
  }
  return context;
}

/** The number of a cell as a user counts; without a path, in the active notebook. */
export function useCellNumber(target?: string): CellNumber {
  const { editor } = usePanel().model;
  return useMemo(
    () => (path: string | undefined, id: string) => {
      const notebook = path ?? target ?? editor.activeNotebook;
      return notebook ? (editor.cell(notebook, id)?.number ?? null) : null;
    },
    [editor, target]
  );
}

/** The label of a cell by its id, in the notebook that a call is about. */
export function useCellLabel(target?: string): (args: unknown) => LabelOf {
  const { editor } = usePanel().model;
  return useMemo(
    () => args => {
      const { path } = (args ?? {}) as { path?: unknown };
      const notebook =
        typeof path === 'string' ? path : (target ?? editor.activeNotebook);
      return id => (notebook ? editor.cell(notebook, id) : null);
    },
    [editor, target]
  );
}
