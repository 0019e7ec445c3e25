import React, { useRef } from 'react';

import { useValue } from '../../session/observable';
import { CompareCard } from '../answers/CompareCard';
import { ActionCard } from '../services/ActionCard';
import { ActionList } from '../services/ActionList';
import { ConnectCard } from '../connect/ConnectCard';
import { DatasetsCard } from '../datasets/DatasetsCard';
import { LessonCard } from '../tutorials/LessonCard';
import { McpCard } from '../mcp/McpCard';
import { QualityCard } from '../quality/QualityCard';
import { StrategistCard } from '../strategist/StrategistCard';
import { TutorialList } from '../tutorials/TutorialList';
import { UsageCard } from '../usage/UsageCard';
import { WorkflowForm } from '../workflows/WorkflowForm';
import { WorkflowList } from '../workflows/WorkflowList';
import { usePanel } from '../context';
import { useBroughtUp } from '../../ui/scrolling';

/** The card under the conversation, in which is shown what works without a model, and what was used. */
export function ToolsPanelCard(): JSX.Element | null {
  const { model } = usePanel();
  const known = useValue(model.toolsPanel.card);
  const lesson = useValue(model.toolsPanel.tutorials.place);
  const { store, sessionId } = useValue(model.shown);
  const { turnIds, forkedFrom } = useValue(store.conversation);
  // A copy of a session is for something else than the lesson that was open in the original.
  const isElsewhere =
    known?.kind === 'lesson' && forkedFrom && lesson?.sessionId !== sessionId;
  const card = isElsewhere ? null : known;
  const frame = useRef<HTMLDivElement>(null);
  useBroughtUp(frame, card);
  if (!card) {
    return null;
  }
  return (
    <div className="da-guide" ref={frame} data-alone={turnIds.length === 0}>
      {card.kind === 'workflows' && <WorkflowList />}
      {card.kind === 'workflow' && (
        <WorkflowForm
          key={JSON.stringify(card)}
          id={card.id}
          initial={card.initial}
        />
      )}
      {card.kind === 'quality' && <QualityCard />}
      {card.kind === 'connect' && <ConnectCard />}
      {card.kind === 'mcp' && <McpCard />}
      {card.kind === 'usage' && <UsageCard />}
      {card.kind === 'datasets' && <DatasetsCard />}
      {card.kind === 'tutorials' && <TutorialList />}
      {card.kind === 'strategist' && <StrategistCard />}
      {card.kind === 'compare' && (
        <CompareCard
          key={`${card.turnId} ${card.question} ${card.problem}`}
          card={card}
        />
      )}
      {card.kind === 'actions' && <ActionList />}
      {card.kind === 'action' && (
        <ActionCard key={`${card.id.service}.${card.id.action}`} id={card.id} />
      )}
      {card.kind === 'lesson' && <LessonCard />}
    </div>
  );
}
