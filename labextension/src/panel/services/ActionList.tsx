import { FilterBox } from '@jupyterlab/ui-components';
import React, { useEffect, useState } from 'react';

import { ActionInfo, ServiceInfo } from '../../api/types';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';
import { CardFrame, ChoiceList } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';

/** All actions, by service, to choose one from. */
export function ActionList(): JSX.Element {
  const { services, toolsPanel } = usePanel().model;
  const { list, problem } = useValue(services.known);
  const [typed, setTyped] = useState('');
  useEffect(() => void services.load(), [services]);
  const shown = (list ?? [])
    .map(service => ({ service, actions: matching(service, typed) }))
    .filter(({ actions }) => actions.length > 0);
  return (
    <CardFrame title="Run an Action" testId="da-actions" takesFocus>
      <FilterBox
        placeholder="Filter actions"
        initialQuery=""
        useFuzzyFilter={false}
        updateFilter={(_, query) => setTyped(query ?? '')}
      />
      {problem && (
        <Problem message={problem} onRetry={() => void services.refresh()} />
      )}
      {!list && !problem && <p>Loading actions</p>}
      {list && !shown.length && <p className="da-dim">No matching actions.</p>}
      {shown.map(({ service, actions }) => (
        <section key={service.id} aria-label={service.name}>
          <h4>{service.name}</h4>
          <ChoiceList
            items={actions.map(({ id, title, description }) => ({
              key: `${service.id}.${id}`,
              name: title,
              about: description,
              onClick: () =>
                toolsPanel.showAction({ service: service.id, action: id })
            }))}
          />
        </section>
      ))}
    </CardFrame>
  );
}

/** The actions of a service that have all that was typed in what is read of them. */
function matching(
  { id, name, actions, installed }: ServiceInfo,
  typed: string
): readonly ActionInfo[] {
  const parts = typed.toLowerCase().split(/\s+/);
  return installed === false
    ? []
    : (actions ?? []).filter(({ title, description }) => {
        const text = `${id} ${name} ${title} ${description}`.toLowerCase();
        return parts.every(part => text.includes(part));
      });
}
