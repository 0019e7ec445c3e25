import React, { useContext, useMemo } from 'react';

import { ActionHost, IActionHost } from '../../actions/host';
import { ActionRun } from '../../actions/ActionRun';
import { ProposalCard } from '../../actions/ProposalCard';
import { useValue } from '../../session/observable';
import { IActionEntry, IProposalEntry } from '../../session/turn';
import { TurnContext, usePanel } from '../context';
import { Markdown } from '../conversation/Markdown';

/** The forms within are those of the panel's session. */
export function PanelActionHost(props: {
  children: React.ReactNode;
  /** The turn whose plan waits for the action. */
  ofPlan?: string | null;
}): JSX.Element {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId } = useValue(store.conversation);
  const isWorking = !!runningTurnId && runningTurnId !== props.ofPlan;
  const host = useMemo<IActionHost>(
    () => ({
      isWorking,
      dryRun: (id, parameters, notebook) =>
        model.services.dryRun(id, parameters, notebook ?? undefined)
    }),
    [model, isWorking]
  );
  return (
    <ActionHost.Provider value={host}>{props.children}</ActionHost.Provider>
  );
}

/** A proposal of the conversation. */
export function PanelProposal(props: {
  entry: IProposalEntry;
  message: string;
  /** The turn's plan waits for it. */
  isWaitedFor: boolean;
}): JSX.Element {
  const { entry, message, isWaitedFor } = props;
  const { model } = usePanel();
  const turnId = useContext(TurnContext);
  const { store } = useValue(model.shown);
  const { newest, done } = useValue(store.proposals);
  const card = (
    <PanelActionHost ofPlan={isWaitedFor ? turnId : null}>
      <ProposalCard
        entry={entry}
        message={message}
        isReplaced={(newest.get(entry.id) ?? turnId) !== turnId}
        isDone={!isWaitedFor && done.has(entry.id)}
        run={values => model.services.run(entry.id, values)}
      />
    </PanelActionHost>
  );
  return isWaitedFor ? <div className="da-waited-for">{card}</div> : card;
}

/** A run of an action in the conversation. */
export function PanelActionRun(props: { entry: IActionEntry }): JSX.Element {
  const { model } = usePanel();
  return (
    <ActionRun
      entry={props.entry}
      markdown={text => <Markdown text={text} isGrowing={false} />}
      openFile={path => void model.services.openFile(path)}
    />
  );
}
