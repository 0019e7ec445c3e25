import React from 'react';

import { useValue } from '../state/value';
import { DatasetsCard } from './DatasetsCard';
import { HelpCard } from './HelpCard';
import { LessonCard } from './LessonCard';
import { QualityCard } from './QualityCard';
import { StrategistCard } from './StrategistCard';
import { TutorialList } from './TutorialList';
import { UsageCard } from './UsageCard';
import { WorkflowForm } from './WorkflowForm';
import { WorkflowList } from './WorkflowList';
import { usePanel } from './context';

/** The card above the conversation, in which is shown what works without a model, and what was used. */
export function GuideCard(): JSX.Element | null {
  const { model } = usePanel();
  const card = useValue(model.guide.card);
  const { store } = useValue(model.shown);
  const { turnIds } = useValue(store.conversation);
  if (!card) {
    return null;
  }
  return (
    <div className="da-guide" data-alone={turnIds.length === 0}>
      {card.kind === 'workflows' && <WorkflowList />}
      {card.kind === 'workflow' && <WorkflowForm key={card.id} id={card.id} />}
      {card.kind === 'quality' && <QualityCard />}
      {card.kind === 'usage' && <UsageCard />}
      {card.kind === 'datasets' && <DatasetsCard />}
      {card.kind === 'tutorials' && <TutorialList />}
      {card.kind === 'strategist' && <StrategistCard />}
      {card.kind === 'help' && <HelpCard commands={card.commands} />}
      {card.kind === 'lesson' && <LessonCard />}
    </div>
  );
}
