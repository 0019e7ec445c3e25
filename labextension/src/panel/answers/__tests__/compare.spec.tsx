import React from 'react';

import { Event, ModelsReply } from '../../../api/types';
import { useValue } from '../../../session/observable';
import { TurnView } from '../../conversation/Turn';
import { ToolsPanelCard } from '../../toolsPanel/ToolsPanelCard';
import { usePanel } from '../../context';
import {
  button,
  clear,
  click,
  doing,
  draw,
  makePanel,
  press,
  type
} from '../../__tests__/render';

afterEach(clear);

const MODELS: ModelsReply = {
  models: ['a', 'b', 'c', 'd', 'e'].map(name => ({
    id: `openai/${name}`,
    label: `Model ${name.toUpperCase()}`,
    provider: 'OpenAI',
    ready: true,
    vision: false
  })),
  default: 'openai/a',
  ready: true,
  connections: [],
  canConnect: false,
  lockedChoices: [],
  locked: false
};

function Both(): JSX.Element {
  const { store } = useValue(usePanel().model.shown);
  return (
    <>
      <TurnView turn={store.turn('turn_1')} />
      <ToolsPanelCard />
    </>
  );
}

async function panelWith(reply: ModelsReply = MODELS) {
  const panel = await makePanel();
  panel.client.modelsReply = reply;
  await panel.model.refreshModels();
  const node = await draw(panel.model, <Both />);
  let seq = 0;
  const emit = (...events: object[]) =>
    panel.emit(...(events.map(e => ({ seq: ++seq, at: 1, ...e })) as Event[]));
  const boxes = () => [
    ...node.querySelectorAll<HTMLInputElement>('[type="checkbox"]')
  ];
  const sent = () =>
    panel.ops().flatMap(op => (op.type === 'user_message' ? [op.request] : []));
  return { ...panel, node, emit, boxes, sent };
}

test('two to four models are chosen, and remembered', async () => {
  const { model, node, boxes, sent } = await panelWith();
  await doing(() => model.compare.run(''));
  const field = node.querySelector('textarea');
  expect(
    boxes()
      .map(({ checked }) => checked)
      .filter(Boolean)
  ).toHaveLength(2);
  const submit = () => button(node, 'Compare')!;
  expect(submit().disabled).toBe(true);
  await type(field, 'Why?');
  expect(submit().disabled).toBe(false);
  await click(boxes()[2]);
  await click(boxes()[3]);
  expect(boxes()[4].disabled).toBe(true);
  await click(boxes()[1]);
  await press(field, 'Enter');
  expect(sent()[0]).toMatchObject({
    message: 'Why?',
    compare: ['openai/a', 'openai/c', 'openai/d']
  });
  expect(node.querySelector('[data-testid="da-compare"]')).toBeNull();
  await doing(() => model.compare.run(''));
  expect(boxes().map(({ checked }) => checked)).toEqual([
    true,
    false,
    true,
    true,
    false
  ]);
  await click(boxes()[2]);
  await click(boxes()[3]);
  expect(submit().disabled).toBe(true);
});

test('models that are named are asked at once; a name that there is not opens the choice', async () => {
  const { model, node, boxes, sent } = await panelWith();
  await doing(() => model.compare.run('@a @b Why?'));
  expect(sent()[0]).toMatchObject({
    message: 'Why?',
    compare: ['openai/a', 'openai/b']
  });
  await doing(() => model.compare.run('@c @nobody Why?'));
  expect(sent()).toHaveLength(1);
  expect(node.querySelector('[role="alert"]')!.textContent).toContain('nobody');
  expect(boxes().map(({ checked }) => checked)).toEqual([
    false,
    false,
    true,
    false,
    false
  ]);
  await doing(() => model.compare.run('@a @b @c @d @e Why?'));
  expect(node.querySelector('[role="alert"]')!.textContent).toContain(
    'Up to 4'
  );
  expect(node.querySelector('textarea')!.value).toBe('Why?');
});

test.each([
  [[MODELS.models[0]], false, 'Only Model A is ready'],
  [[], false, 'No model is ready'],
  [MODELS.models, true, 'server administrator']
])(
  'without enough models it says what to do',
  async (models, locked, words) => {
    const { model, node, boxes } = await panelWith({
      ...MODELS,
      models: [
        ...models,
        {
          ...MODELS.models[4],
          id: 'mistral/large',
          label: 'Mistral Large',
          ready: false,
          reason: 'Mistral has no key: MISTRAL_API_KEY is not set.'
        }
      ],
      default: models[0]?.id,
      ready: models.length > 0,
      locked
    });
    await doing(() => model.compare.run('Why?'));
    expect(boxes()).toHaveLength(0);
    expect(node.textContent).toContain(words);
    if (!locked) {
      expect(node.textContent).toContain('MISTRAL_API_KEY is not set');
    }
    expect(button(node, 'Compare')!.disabled).toBe(true);
  }
);

const STARTED = {
  type: 'turn_started',
  mode: 'ask',
  notebookMode: 'off',
  tools: [],
  message: 'Why?',
  compare: ['openai/a', 'openai/b']
};
const PROVENANCE = {
  aiTurnId: 'turn_1',
  providerId: 'openai',
  responseType: 'batch'
};
const began = (id: string, model: string) => ({
  type: 'answer_started',
  answerId: id,
  model
});
const ended = (id: string, model: string, text: string, more = {}) => ({
  type: 'answer_finished',
  answerId: id,
  model,
  status: 'completed',
  text,
  durationMs: 4100,
  usage: {
    inputTokens: 1200,
    outputTokens: 40,
    cachedTokens: 0,
    totalTokens: 1240,
    sessionTokens: 1240,
    cost: 0.004,
    estimated: false
  },
  provenance: { ...PROVENANCE, responseIndex: 0 },
  ...more
});

test('answers are in the order of the models, with what each does, read and took', async () => {
  const { emit, node, ops, model } = await panelWith();
  const answers = () => [
    ...node.querySelectorAll<HTMLElement>('[data-testid="da-further-answer"]')
  ];
  await emit(
    STARTED,
    began('y', 'openai/b'),
    began('x', 'openai/a'),
    { type: 'answer_status', answerId: 'x', message: 'Reconnecting 1 of 5' },
    {
      type: 'tool_call_started',
      callId: 'y:1',
      name: 'getNotebookCells',
      reads: true,
      answerId: 'y'
    },
    {
      type: 'tool_call_output',
      callId: 'y:1',
      name: 'getNotebookCells',
      status: 'ok',
      summary: 'Read 12 cells',
      answerId: 'y'
    }
  );
  expect(answers().map(each => each.dataset.answer)).toEqual(['x', 'y']);
  expect(answers()[0].textContent).toContain('Reconnecting 1 of 5');
  await click(button(answers()[0], 'Stop'));
  expect(ops()).toContainEqual({ type: 'interrupt', answerId: 'x' });
  expect(answers()[1].textContent).toContain('Read 12 cells');
  expect(model.shown.current.store.turn('turn_1').current.entries).toEqual([]);
  await emit(
    ended('y', 'openai/b', 'Because.'),
    { type: 'answer_chosen', answerId: 'y' },
    ended('x', 'openai/a', '', {
      status: 'failed',
      message: 'The key was refused.',
      provenance: undefined
    }),
    { type: 'turn_completed', durationMs: 5, usage: {} }
  );
  expect(answers()[0].querySelector('[role="alert"]')!.textContent).toBe(
    'The key was refused.'
  );
  for (const part of ['1.2k tokens in', '$0.004', '4.1 s', 'In use']) {
    expect(answers()[1].textContent).toContain(part);
  }
  expect(button(node, 'Synthesise')).toBeUndefined();
  expect(button(node, 'Use this answer')).toBeUndefined();
  await emit(
    began('z', 'openai/c'),
    ended('z', 'openai/c', 'For another reason.')
  );
  await click(button(node, 'Use this answer'));
  expect(ops()).toContainEqual({
    type: 'choose_answer',
    turnId: 'turn_1',
    answerId: 'z'
  });
  await click(button(node, 'Synthesise'));
  expect(ops()).toContainEqual({ type: 'synthesise', turnId: 'turn_1' });
});

test('a synthesis leads to the answers, and says which one it does not cite', async () => {
  const { emit, node } = await panelWith();
  const sources = ['x', 'y'].map((answerId, index) => ({
    number: index + 1,
    answerId,
    model: `openai/${'ab'[index]}`,
    provenance: { ...PROVENANCE, responseIndex: index },
    cited: false
  }));
  await emit(
    STARTED,
    began('x', 'openai/a'),
    ended('x', 'openai/a', 'Blue.'),
    began('y', 'openai/b'),
    ended('y', 'openai/b', 'Red.'),
    { type: 'turn_completed', durationMs: 5, usage: {} },
    { ...began('s', 'openai/c'), sources },
    ended('s', 'openai/c', 'Blue [1] <img src=x onerror=alert(1)>', {
      sources: [{ ...sources[0], cited: true }, sources[1]]
    })
  );
  const synthesis = node.querySelector('[data-testid="da-synthesis"]')!;
  expect(synthesis.textContent).toContain('[2] Model B (not cited)');
  expect(synthesis.querySelector('img')?.getAttribute('onerror')).toBeFalsy();
  const first = node.querySelector<HTMLElement>('[data-answer="x"]')!;
  first.scrollIntoView = jest.fn();
  await click(synthesis.querySelector('[data-da-answer="x"]'));
  expect(document.activeElement).toBe(first);
  expect(first.textContent).toContain('[1]');
});
