import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import React, { useMemo } from 'react';

import { ActionHost, IActionHost } from '../actions/host';
import { ActionRun } from '../actions/ActionRun';
import { ProposalCard } from '../actions/ProposalCard';
import { Answer } from './answerView';
import { InlineModel } from './model';
import { IInlineState } from './state';

/** The action that a service proposed, with its form, and what came of its run. */
export function Action(props: {
  model: InlineModel;
  state: IInlineState;
  rendermime: IRenderMimeRegistry;
  openPath: (path: string) => void;
  openFile: (path: string) => void;
}): JSX.Element | null {
  const { model, state, rendermime, openPath, openFile } = props;
  const { action, ran } = state;
  const isWorking = state.activity !== null;
  const host = useMemo<IActionHost>(
    () => ({ isWorking, dryRun: model.dryRun }),
    [isWorking, model]
  );
  if (!action) {
    return null;
  }
  return (
    // What is typed into the form is no command of JupyterLab.
    <div className="da-inline-action" data-lm-suppress-shortcuts="true">
      <ActionHost.Provider value={host}>
        <ProposalCard
          key={action.entry.id}
          entry={action.entry}
          message={action.message}
          isDone={ran?.status === 'ok'}
          run={parameters => model.runAction(parameters)}
        />
      </ActionHost.Provider>
      {ran && (
        <ActionRun
          entry={ran}
          openFile={openFile}
          markdown={text => (
            <Answer
              text={text}
              isGrowing={false}
              rendermime={rendermime}
              openPath={openPath}
              uses={{}}
            />
          )}
        />
      )}
    </div>
  );
}
