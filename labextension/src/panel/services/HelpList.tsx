import React, { useId } from 'react';

import { ServiceHelp } from '../../api/types';
import { READ_FROM_START } from '../../ui/scrolling';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';
import { ICommandHelp } from '../toolsPanel/toolsPanel';

type IEntries = readonly (readonly [string, string])[];

const REFERENCES: IEntries = [
  ['@', 'attaches a file, notebook, cell, output, data set or variable'],
  ['#', 'mentions a tool to use'],
  [
    'agent:',
    'at the start of a message, in any mode: plans the task and runs it in the active notebook'
  ]
];
const KEYS: IEntries = [
  ['Enter', 'sends'],
  ['Shift+Enter', 'inserts a line break'],
  ['Esc', 'in the empty input: stops the agent']
];

/** What the agent can do: by service, and, where all was asked for, by the panel's own commands. */
export function HelpList(props: {
  services: readonly ServiceHelp[];
  isWhole: boolean;
}): JSX.Element {
  const { model } = usePanel();
  const { commands } = useComposer();
  return (
    <section
      className={`da-help-services ${READ_FROM_START}`}
      aria-label="Help"
      data-testid="da-help"
    >
      {props.services.map(service => (
        <Service key={service.id} service={service} />
      ))}
      <div className="da-buttons">
        <button
          type="button"
          className="da-button"
          data-testid="da-run-an-action"
          onClick={() => model.toolsPanel.showActions()}
        >
          Run an Action…
        </button>
      </div>
      {props.isWhole && <PanelHelp commands={commands} />}
    </section>
  );
}

function Service(props: { service: ServiceHelp }): JSX.Element {
  const { id, description, topics, install } = props.service;
  const composer = useComposer();
  const heading = useId();
  return (
    <section className="da-help-service" aria-labelledby={heading}>
      <h4 id={heading}>
        <code>{`/${id}`}</code> <span>{description}</span>
      </h4>
      {install && (
        <p className="da-dim">
          Its actions are not installed: <code>{install}</code>
        </p>
      )}
      <ul>
        {topics.map(({ title, message, description: about }) => (
          <li key={message}>
            <button
              type="button"
              className="da-help-example"
              title={about || undefined}
              aria-label={`Put into the input: ${message}`}
              onClick={() => composer.write(message)}
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What else can be typed in the input. */
function PanelHelp(props: { commands: readonly ICommandHelp[] }): JSX.Element {
  const commands = props.commands.map(
    ({ name, description, takes }) =>
      [takes ? `${name} …` : name, description] as const
  );
  return (
    <>
      <Part title="Commands of the panel" entries={commands} />
      <Part title="In a message" entries={REFERENCES} />
      <Part title="Keys" entries={KEYS} />
      <p className="da-dim">
        Plan first, under the input in Agent mode, shows the plan and waits for
        your approval.
      </p>
    </>
  );
}

function Part(props: { title: string; entries: IEntries }): JSX.Element {
  return (
    <>
      <h4>{props.title}</h4>
      <dl className="da-help-list">
        {props.entries.map(([name, label]) => (
          <React.Fragment key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{label}</dd>
          </React.Fragment>
        ))}
      </dl>
    </>
  );
}
