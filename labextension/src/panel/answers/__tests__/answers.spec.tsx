import React from 'react';

import { Event } from '../../../api/types';
import { canAskAgain } from '../answersController';
import { useValue } from '../../../session/observable';
import { TurnView } from '../../conversation/Turn';
import { usePanel } from '../../context';
import { button, clear, click, draw, makePanel } from '../../__tests__/render';

afterEach(clear);

const STARTED = {
  type: 'turn_started',
  mode: 'ask',
  notebookMode: 'off',
  tools: [],
  message: 'Name a fruit',
  model: 'openai/first'
};
const ENDED = { type: 'turn_completed', durationMs: 5, usage: {} };
const PROVENANCE = {
  aiTurnId: 'turn_1',
  providerId: 'openai',
  responseType: 'batch',
  responseIndex: 1
};

function Turn(): JSX.Element {
  const { store } = useValue(usePanel().model.shown);
  return <TurnView turn={store.turn('turn_1')} />;
}

/** A turn that was answered, and events after it. */
async function answered() {
  const panel = await makePanel();
  let seq = 0;
  const emit = (...events: object[]) =>
    panel.emit(...(events.map(e => ({ seq: ++seq, at: 1, ...e })) as Event[]));
  await emit(
    STARTED,
    { type: 'text_delta', itemId: 'i', delta: 'Apple.' },
    ENDED
  );
  const node = await draw(panel.model, <Turn />);
  const further = () =>
    node.querySelector<HTMLElement>('[data-testid="da-further-answer"]')!;
  return { ...panel, emit, node, further };
}

const delta = (itemId: string, text: string) => ({
  type: 'answer_delta',
  answerId: 'a1',
  itemId,
  delta: text
});

test('a further answer grows under the first, can be stopped, and says that it was', async () => {
  const { emit, further, node, ops } = await answered();
  await emit(
    { type: 'answer_started', answerId: 'a1', model: 'openai/second' },
    delta('x', 'Ki'),
    { type: 'item_discarded', itemId: 'x' },
    delta('y', 'Pe'),
    delta('y', 'ar <img src=x onerror=alert(1)>')
  );
  expect(further().dataset.status).toBe('running');
  expect(further().textContent).toContain('second');
  expect(further().textContent).toContain('Pear');
  expect(further().textContent).not.toContain('Ki');
  expect(further().querySelector('img')?.getAttribute('onerror')).toBeFalsy();
  expect(node.querySelector('.da-assistant')!.textContent).toBe('Apple.');
  await click(button(node, 'Stop'));
  expect(ops()).toContainEqual({ type: 'interrupt', hold: true });
  await emit({
    type: 'answer_finished',
    answerId: 'a1',
    model: 'openai/second',
    status: 'stopped',
    text: '',
    message: 'Stopped before its end.'
  });
  expect(further().textContent).toContain('Stopped before its end.');
  expect(further().textContent).toContain('Pear');
  expect(node.querySelector('[data-testid="da-go-on"]')).toBeNull();
});

test('only the newest turn is asked again, and none that the conversation went back to', async () => {
  const { emit, model } = await answered();
  const { store } = model.shown.current;
  const may = (id: string) => canAskAgain(store, store.turn(id).current);
  expect(may('turn_1')).toBe(true);
  const second = { turnId: 'turn_2' };
  await emit({ ...STARTED, ...second });
  expect(may('turn_1')).toBe(false);
  await emit(
    { type: 'text_delta', itemId: 'j', delta: 'Plum.', ...second },
    { ...ENDED, ...second }
  );
  expect(may('turn_2')).toBe(true);
  await emit({
    type: 'went_back',
    toTurnId: 'turn_1',
    includeTurn: false,
    withdrawn: ['turn_2'],
    documents: false,
    left: []
  });
  expect(may('turn_1')).toBe(false);
  expect(may('turn_2')).toBe(false);
});

test('the answer to go on from is chosen, and kept in the scratchpad with where it is from', async () => {
  const { client, emit, further, node, ops } = await answered();
  await emit(
    { type: 'answer_started', answerId: 'a1', model: 'openai/second' },
    {
      type: 'answer_finished',
      answerId: 'a1',
      model: 'openai/second',
      status: 'completed',
      text: 'Pear.',
      provenance: PROVENANCE
    }
  );
  const radios = () => [...node.querySelectorAll<HTMLInputElement>('input')];
  expect(radios().map(({ checked }) => checked)).toEqual([true, false]);
  await click(radios()[1]);
  expect(ops()).toContainEqual({
    type: 'choose_answer',
    turnId: 'turn_1',
    answerId: 'a1'
  });
  await emit({ type: 'answer_chosen', answerId: 'a1' });
  expect(radios().map(({ checked }) => checked)).toEqual([false, true]);
  const add = jest.spyOn(client, 'addToScratchpad');
  await click(further().querySelector('[aria-label*="scratchpad"]'));
  expect(add.mock.calls[0][0].cells?.[0]).toMatchObject({
    content: 'Pear.',
    turnId: 'turn_1',
    provenance: PROVENANCE
  });
  await emit({ ...STARTED, turnId: 'turn_2' });
  expect(radios()).toEqual([]);
  expect(node.textContent).toContain('Continued from second.');
});
