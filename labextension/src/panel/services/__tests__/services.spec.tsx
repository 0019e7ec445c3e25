import React from 'react';

import { ActionParameter, ActionProposal, Event } from '../../../api/types';
import { useValue } from '../../../session/observable';
import {
  button,
  clear,
  click,
  doing,
  draw,
  hurryFrames,
  makePanel,
  settle,
  type
} from '../../__tests__/render';
import { ComposerContext } from '../../composer/composerContext';
import { usePanel } from '../../context';
import { TurnView } from '../../conversation/Turn';
import { ToolsPanelCard } from '../../toolsPanel/ToolsPanelCard';
import { formOf, given, valuesOf } from '../../../actions/formSchema';
import { alternativesOf } from '../RoutingLine';

afterEach(clear);

const parameter = (fields: Partial<ActionParameter>): ActionParameter => ({
  name: 'format',
  title: 'Format',
  found: false,
  required: true,
  secret: false,
  schema: {
    oneOf: [
      { const: 'html', title: 'HTML' },
      { const: 'markdown', title: 'Markdown' }
    ]
  },
  ...fields
});
const TEXT = { type: 'string' };
const notebook = parameter({
  name: 'notebook',
  title: 'Notebook',
  found: true,
  value: 'cars.ipynb',
  display: 'cars.ipynb',
  source: 'the active notebook',
  schema: TEXT
});

const proposalOf = (
  parameters: ActionParameter[],
  fields: Partial<ActionProposal> = {}
): ActionProposal => ({
  proposalId: 'p1',
  service: 'notebook',
  action: 'export',
  title: 'Export the notebook',
  description: 'Writes it in another format.',
  parameters,
  complete: parameters.every(({ found, required }) => found || !required),
  destructive: false,
  wizard: false,
  notebook: 'cars.ipynb',
  ...fields
});

function Turns(props: { ids: string[] }): JSX.Element {
  const { store } = useValue(usePanel().model.shown);
  return (
    <>
      {props.ids.map(id => (
        <TurnView key={id} turn={store.turn(id)} />
      ))}
    </>
  );
}

const STARTED = {
  type: 'turn_started',
  mode: 'ask',
  notebookMode: 'off',
  tools: [],
  message: '/notebook export it as a web page'
};
const ENDED = { type: 'turn_completed', durationMs: 5, usage: {} };

/** A panel with turns, of which these events are the first. */
async function drawn(...events: object[]) {
  const panel = await makePanel();
  let seq = 0;
  const emit = (turnId: string, ...more: object[]) =>
    panel.emit(
      ...([STARTED, ...more, ENDED].map(event => ({
        seq: ++seq,
        at: 1,
        turnId,
        ...event
      })) as Event[])
    );
  await emit('turn_1', ...events);
  const composer = { written: '' };
  const node = await draw(
    panel.model,
    <ComposerContext.Provider
      value={{
        write: text => (composer.written = text),
        offer: () => undefined,
        focus: () => undefined,
        commands: [{ name: '/new', description: 'New session', takes: false }]
      }}
    >
      <Turns ids={['turn_1', 'turn_2']} />
      <ToolsPanelCard />
    </ComposerContext.Provider>
  );
  const find = (testId: string) =>
    node.querySelector<HTMLElement>(`[data-testid="${testId}"]`);
  return { ...panel, emit, node, find, composer };
}

const proposed = (proposal: ActionProposal) => ({
  type: 'action_proposed',
  ...proposal
});

test('a proposal says what was found, from where, and what is needed or may stay empty', async () => {
  const { find, emit } = await drawn(
    proposed(
      proposalOf([
        parameter({ name: 'title', title: 'Title', required: false }),
        parameter({ problem: 'There is no such format.' }),
        parameter({
          name: 'kind',
          title: 'Kind',
          found: true,
          display: 'HTML',
          source: 'web page'
        }),
        notebook
      ])
    )
  );
  const card = find('da-proposal')!;
  expect([...card.querySelectorAll('dt, dd')].map(e => e.textContent)).toEqual([
    'Kind',
    'HTML from “web page”',
    'Notebook',
    'cars.ipynb · the active notebook',
    'Format',
    'RequiredThere is no such format.',
    'Title',
    'Optional'
  ]);
  expect(button(card, 'Fill in and run…')).toBeTruthy();
  await emit('turn_2', proposed(proposalOf([notebook])));
  expect(find('da-proposal-replaced')!.textContent).toBe(
    'Export the notebook · Replaced by a newer proposal'
  );
  expect(button(find('da-proposal')!, 'Export the notebook')).toBeTruthy();
});

test('a destructive proposal says what it destroys', async () => {
  const { find } = await drawn(
    proposed(
      proposalOf([notebook], {
        destructive: true,
        destroys: 'Deletes cars.ipynb.'
      })
    )
  );
  expect(find('da-proposal')!.textContent).toContain('Deletes cars.ipynb.');
});

test('the form asks for what is missing, checks it, and runs the proposal', async () => {
  hurryFrames();
  const { find, client, ops } = await drawn(
    proposed(proposalOf([notebook, parameter({})]))
  );
  client.proposal = ({ parameters = {} }) =>
    proposalOf([
      notebook,
      parameter({ found: 'format' in parameters, value: parameters.format })
    ]);
  await click(button(find('da-proposal')!, 'Fill in and run…'));
  await doing(() => import('../../../actions/ActionForm').then(settle));
  const form = find('da-action-form')!;
  const fields = [...form.querySelectorAll('label')].map(e => e.textContent);
  expect(fields).toEqual(['Format', 'Notebook']);
  const select = form.querySelector('select')!;
  expect(select.labels![0].textContent).toBe('Format');
  expect(select.value).toBe('');
  await click(button(form, 'Run'));
  expect(form.querySelector('[role="alert"]')!.textContent).toBe(
    'This field is required.'
  );
  expect(document.activeElement).toBe(select);
  expect(client.dryRuns).toEqual([]);
  await doing(() => {
    select.value = '1';
    select.dispatchEvent(new window.Event('change', { bubbles: true }));
  });
  await click(button(form, 'Run'));
  expect(ops()).toEqual([
    {
      type: 'run_action',
      proposalId: 'p1',
      parameters: { notebook: 'cars.ipynb', format: 'markdown' }
    }
  ]);
  expect(find('da-action-form')).toBeNull();
  expect(document.activeElement).toBe(find('da-open-form'));
});

test('a wizard asks one question after another, a secret as a password', async () => {
  hurryFrames();
  const name = parameter({ name: 'name', title: 'Name', schema: TEXT });
  const key = parameter({
    name: 'key',
    title: 'Key',
    secret: true,
    schema: TEXT
  });
  const wizard = { wizard: true };
  const { find, client, ops } = await drawn(
    proposed(proposalOf([name], { ...wizard, complete: false }))
  );
  client.proposal = ({ parameters = {} }) =>
    parameters.key
      ? proposalOf(
          [
            { ...name, found: true, value: parameters.name },
            { ...key, found: true }
          ],
          { ...wizard, complete: true }
        )
      : proposalOf([{ ...name, found: true, value: parameters.name }, key], {
          ...wizard,
          complete: false
        });
  await click(button(find('da-proposal')!, 'Fill in and run…'));
  await doing(() => import('../../../actions/ActionForm').then(settle));
  const form = find('da-action-form')!;
  await type(form.querySelector('input'), 'cars');
  await click(button(form, 'Next'));
  expect(ops()).toEqual([]);
  const secret = form.querySelector<HTMLInputElement>('[type="password"]')!;
  expect(secret.labels![0].textContent).toBe('Key');
  expect(document.activeElement).toBe(secret);
  await type(secret, 's3cret');
  await click(button(form, 'Next'));
  expect(ops()).toEqual([
    {
      type: 'run_action',
      proposalId: 'p1',
      parameters: { name: 'cars', key: 's3cret' }
    }
  ]);
});

test('the routing line says how it was found, and its line is there once', async () => {
  const { find } = await drawn({
    type: 'intent_detected',
    service: 'notebook',
    subcommand: 'export',
    title: 'Notebook: Export the notebook',
    confidence: 0.9,
    alternatives: [],
    how: 'model'
  });
  expect(find('da-routing')!.textContent).toContain(
    'Notebook: Export the notebook · detected by the model'
  );
});

test('alternatives are each there once, with what else the service does', () => {
  const services = [{ id: 'data', name: 'Data', actions: [] }] as never;
  const intent = {
    service: 'data',
    subcommand: 'learn',
    title: 'Data: Learn',
    how: 'ranking' as const,
    alternatives: [
      { service: 'data', subcommand: 'brainstorm', confidence: 0.2 },
      { confidence: 0.1 }
    ]
  };
  expect(alternativesOf(intent, services).map(({ label }) => label)).toEqual([
    'Data: Brainstorm'
  ]);
});

test('help lists services first; an example goes into the input and is not sent', async () => {
  const panel = await drawn();
  await panel.emit(
    'turn_2',
    { ...STARTED, message: '/help' },
    {
      type: 'help_shown',
      services: [
        {
          id: 'notebook',
          name: 'Notebook',
          description: 'Export notebooks.',
          topics: [
            { title: 'Export', description: '', message: '/notebook export' }
          ],
          installed: true
        }
      ]
    }
  );
  const help = panel.find('da-help')!;
  const text = help.textContent!;
  expect(text.indexOf('/notebook')).toBeLessThan(text.indexOf('/new'));
  await click(button(help, 'Export'));
  expect(panel.composer.written).toBe('/notebook export');
  expect(panel.ops()).toEqual([]);
});

test('an unknown command can be sent as it is', async () => {
  const { find, ops, emit } = await drawn();
  const text = 'There is no command `/notebok`. Did you mean `/notebook`?';
  const reply = { type: 'final_reply', text };
  await emit('turn_1', { ...STARTED, message: '/notebook quote' }, reply);
  expect(find('da-send-as-text')).toBeNull();
  await emit(
    'turn_2',
    { ...STARTED, message: '/notebok export' },
    { type: 'command_unknown', command: 'notebok', nearest: ['notebook'] },
    reply
  );
  await click(find('da-send-as-text'));
  await settle();
  expect(ops()).toMatchObject([
    { request: { message: '/notebok export', intent: {} } }
  ]);
});

test('an action that was stopped says how things are now, where it knows', async () => {
  const { find, emit } = await drawn();
  const run = (output: string) => [
    {
      type: 'action_started',
      service: 'environment',
      action: 'install',
      title: 'Install packages'
    },
    { type: 'action_finished', status: 'cancelled', output }
  ];
  await emit('turn_2', STARTED, ...run(''));
  expect(find('da-action-result')).toBeNull();
  await emit('turn_1', ...run('Stopped. The packages are as they were.'));
  expect(find('da-action-result')!.textContent).toContain('as they were');
});

test('an action is found in the list and run by its form, in Agent mode', async () => {
  const { find, client, model, ops } = await drawn();
  client.services = [
    {
      id: 'notebook',
      name: 'Notebook',
      description: '',
      examples: [],
      topics: [],
      links: [],
      installed: true,
      actions: [
        {
          id: 'export',
          title: 'Export the notebook',
          description: 'Writes it in another format.',
          parameters: {},
          destructive: false,
          wizard: false
        }
      ]
    }
  ];
  client.proposal = () => proposalOf([notebook]);
  await doing(() => model.toolsPanel.showActions());
  await click(find('da-actions')!.querySelector('[data-item]'));
  await doing(() => import('../../../actions/ActionForm').then(settle));
  const card = find('da-action-card')!;
  expect(card.querySelector('input')!.value).toBe('cars.ipynb');
  await click(button(card, 'Run'));
  expect(ops()).toMatchObject([
    {
      type: 'user_message',
      request: {
        message: 'Export the notebook',
        mode: 'agent',
        action: {
          service: 'notebook',
          action: 'export',
          parameters: { notebook: 'cars.ipynb' }
        }
      }
    }
  ]);
  expect(find('da-action-card')).toBeNull();
});

describe('the schema of a form', () => {
  it('begins with what is missing, has types for choices, and may stay empty where null is allowed', () => {
    const { schema, uiSchema } = formOf(
      proposalOf([
        notebook,
        parameter({
          name: 'limit',
          title: 'Limit',
          required: false,
          schema: {
            anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }],
            default: null
          }
        }),
        parameter({}),
        parameter({
          name: 'columns',
          title: 'Columns',
          schema: {
            type: 'array',
            uniqueItems: true,
            items: { oneOf: [{ const: 'mpg', title: 'mpg' }] }
          }
        })
      ])
    );
    expect(Object.keys(schema.properties!)).toEqual([
      'format',
      'columns',
      'notebook',
      'limit'
    ]);
    expect(schema.properties).toMatchObject({
      format: { type: 'string' },
      columns: { items: { type: 'string' } },
      limit: { type: 'integer', minimum: 1, title: 'Limit' }
    });
    expect(schema.properties!.limit).not.toHaveProperty('default');
    expect(schema.required).toEqual(['format', 'columns', 'notebook']);
    expect(uiSchema.columns['ui:widget']).toBe('checkboxes');
  });

  it('has no value of a secret, and sends none that is asked for no longer', () => {
    const secret = parameter({ secret: true, value: 'x' });
    expect(valuesOf(proposalOf([secret, notebook]))).toEqual({
      notebook: 'cars.ipynb'
    });
    expect(
      given(
        { notebook: '', gone: 1, format: 'html' },
        proposalOf([notebook, parameter({})])
      )
    ).toEqual({
      format: 'html'
    });
  });
});
