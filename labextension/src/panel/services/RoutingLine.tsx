import { caretDownEmptyThinIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { IntentChoice, ServiceInfo } from '../../api/types';
import { IDetectedIntent, ITurn } from '../../session/turn';
import { IMenuItem, openMenu } from '../../ui/menu';
import { PanelModel } from '../model';
import { usePanel } from '../context';
import { intentTitle } from './servicesController';

/** How it was found out, where the user did not type it. */
const HOW: Record<IDetectedIntent['how'], string> = {
  command: '',
  chosen: 'your choice',
  ranking: 'detected',
  model: 'detected by the model'
};

/** Over the answer: the service that gives it, and a way to another one. */
export function RoutingLine(props: {
  turn: ITurn;
  intent: IDetectedIntent;
}): JSX.Element {
  const { turn, intent } = props;
  const { model } = usePanel();
  const how = HOW[intent.how];
  return (
    <div className="da-routing" data-testid="da-routing">
      <span>{intent.title}</span>
      {how && <span>{` · ${how}`}</span>}
      <button
        type="button"
        className="da-link"
        aria-haspopup="menu"
        aria-label={`Change: ${intent.title}`}
        onClick={event => void choose(event.currentTarget, model, turn, intent)}
      >
        Change
        <caretDownEmptyThinIcon.react
          tag="span"
          width="10px"
          height="10px"
          aria-hidden="true"
        />
      </button>
    </div>
  );
}

async function choose(
  button: HTMLElement,
  model: PanelModel,
  turn: ITurn,
  intent: IDetectedIntent
): Promise<void> {
  const services = await model.services.load();
  openMenu(button, itemsOf(model, turn, intent, services));
}

function itemsOf(
  model: PanelModel,
  { message }: ITurn,
  intent: IDetectedIntent,
  services: readonly ServiceInfo[]
): IMenuItem[] {
  const others = alternativesOf(intent, services);
  return [
    ...others.map(({ service, subcommand, label }) => ({
      label,
      run: () => void model.services.correct(message, { service, subcommand })
    })),
    ...(others.length ? (['separator'] as const) : []),
    {
      label: 'Ordinary Message',
      run: () => void model.services.correct(message, {})
    }
  ];
}

/** What else was considered, and what else the service does; each once. */
export function alternativesOf(
  { service, subcommand, alternatives }: IDetectedIntent,
  services: readonly ServiceInfo[]
): (IntentChoice & { label: string })[] {
  const within: IntentChoice[] = ['learn', 'brainstorm'].map(each => ({
    service,
    subcommand: each
  }));
  const labels = new Set([intentTitle({ service, subcommand }, services)]);
  return [...(alternatives ?? []), ...within]
    .filter(each => each.service)
    .map(({ service, subcommand }) => ({
      service,
      subcommand,
      label: intentTitle({ service, subcommand }, services)
    }))
    .filter(({ label }) => !labels.has(label) && labels.add(label));
}
