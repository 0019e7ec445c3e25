import React, { useEffect, useState } from 'react';

import { ActionProposal } from '../../api/types';
import { usePanel } from '../context';
import { CardFrame } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';
import { IActionId } from '../../actions/host';
import { LazyForm } from '../../actions/LazyForm';
import { PanelActionHost } from './PanelActions';

/** The form of an action that the user chose from the list. */
export function ActionCard(props: { id: IActionId }): JSX.Element {
  const { service, action } = props.id;
  const { model } = usePanel();
  const { services, toolsPanel } = model;
  const [proposal, setProposal] = useState<ActionProposal | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    services.dryRun({ service, action }).then(
      found => isCurrent && setProposal(found),
      (error: Error) => isCurrent && setProblem(error.message)
    );
    return () => {
      isCurrent = false;
    };
  }, [services, service, action]);
  return (
    <CardFrame
      title={proposal?.title ?? 'Run an Action'}
      testId="da-action-card"
      takesFocus
      actions={
        <button
          type="button"
          className="da-link"
          onClick={() => toolsPanel.showActions()}
        >
          All actions
        </button>
      }
    >
      {problem && <Problem message={problem} />}
      {!proposal && !problem && <p>Loading the form</p>}
      {proposal && (
        <>
          {proposal.description && (
            <p className="da-dim">{proposal.description}</p>
          )}
          <PanelActionHost>
            <LazyForm
              proposal={proposal}
              onRun={values => services.runNew(proposal, values)}
              onClose={() => toolsPanel.close()}
            />
          </PanelActionHost>
        </>
      )}
    </CardFrame>
  );
}
