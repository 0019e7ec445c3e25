import React from 'react';

import { ICommandWords } from '../guide';
import { CardFrame } from './CardFrame';

type IEntries = readonly (readonly [string, string])[];

const REFERENCES: IEntries = [
  ['@', 'attaches a file, notebook, cell, output, data set or variable'],
  ['#', 'names a tool that you mean'],
  [
    'agent:',
    'at the start of a message, in any mode: plans the task and carries it out on the notebook in front'
  ]
];
const KEYS: IEntries = [
  ['Enter', 'sends'],
  ['Shift+Enter', 'breaks the line'],
  ['Esc', 'in the empty input: stops what is running']
];

/** What can be typed in the input. */
export function HelpCard(props: {
  commands: readonly ICommandWords[];
}): JSX.Element {
  const commands = props.commands.map(
    ({ name, description, takes }) =>
      [takes ? `${name} …` : name, description] as const
  );
  return (
    <CardFrame title="What can be typed here" testId="da-help" takesFocus>
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
        {props.entries.map(([name, words]) => (
          <React.Fragment key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{words}</dd>
          </React.Fragment>
        ))}
      </dl>
    </>
  );
}
