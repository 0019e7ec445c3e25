import React from 'react';

import { ICommandHelp } from './toolsPanel';
import { CardFrame } from './CardFrame';

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

/** What can be typed in the input. */
export function HelpCard(props: {
  commands: readonly ICommandHelp[];
}): JSX.Element {
  const commands = props.commands.map(
    ({ name, description, takes }) =>
      [takes ? `${name} …` : name, description] as const
  );
  return (
    <CardFrame title="Input help" testId="da-help" takesFocus>
      <Part title="In a message" entries={REFERENCES} />
      <Part title="Commands" entries={commands} />
      <Part title="Keys" entries={KEYS} />
      <p className="da-dim">
        Plan first, under the input in Agent mode, shows the plan and waits for
        your approval.
      </p>
    </CardFrame>
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
