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
}): JSX.Element {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId } = useValue(store.conversation);
  const host = useMemo<IActionHost>(
    () => ({
      isWorking: !!runningTurnId,
      dryRun: (id, parameters, notebook) =>
        model.services.dryRun(id, parameters, notebook ?? undefined)
    }),
    [model, runningTurnId]
  );
  return (
    <ActionHost.Provider value={host}>{props.children}</ActionHost.Provider>
  );
}

/** A proposal of the conversation. */
export function PanelProposal(props: {
  entry: IProposalEntry;
  message: string;
}): JSX.Element {
  const { entry, message } = props;
  const { model } = usePanel();
  const turnId = useContext(TurnContext);
  const { store } = useValue(model.shown);
  const { newest, done } = useValue(store.proposals);
  return (
    <PanelActionHost>
      <ProposalCard
        entry={entry}
        message={message}
        isReplaced={(newest.get(entry.id) ?? turnId) !== turnId}
        isDone={done.has(entry.id)}
        run={values => model.services.run(entry.id, values)}
      />
    </PanelActionHost>
  );
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
