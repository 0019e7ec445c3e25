import React, { act } from 'react';

import { turnRecord } from '../../__tests__/samples';
import { Conversation } from '../../conversation/Conversation';
import { LongList } from '../../../ui/LongList';
import { StrategistCard } from '../../strategist/StrategistCard';
import { click, draw, makePanel, settle } from '../../__tests__/render';

describe('a long list', () => {
  const items = Array.from({ length: 2000 }, (_, index) => `Step ${index}`);
  const heightOf = (item: string) => (item.endsWith('0') ? 44 : 28);

  it('draws only what is in view, and the arrow keys go through all of it', async () => {
    const { model } = await makePanel();
    const node = await draw(
      model,
      <LongList
        label="Steps"
        items={items}
        heightOf={heightOf}
        keyOf={item => item}
        row={item => <button type="button">{item}</button>}
      />
    );
    const list = node.querySelector('ul')!;
    const rows = () => [...list.querySelectorAll('[data-row]')];
    expect(rows().length).toBeLessThan(40);
    expect(rows()[0].getAttribute('aria-setsize')).toBe('2000');
    const tops = rows().map(row => (row as HTMLElement).style.top);
    expect(tops.slice(0, 3)).toEqual(['0px', '44px', '72px']);

    const press = (key: string) =>
      act(async () => {
        document.activeElement!.dispatchEvent(
          new KeyboardEvent('keydown', { key, bubbles: true })
        );
        await settle();
      });
    await act(async () => list.querySelector('button')!.focus());
    await press('ArrowDown');
    expect(document.activeElement?.textContent).toBe('Step 1');
    await press('End');
    expect(document.activeElement?.textContent).toBe('Step 1999');
    expect(rows().length).toBeLessThan(40);
    await press('Home');
    expect(document.activeElement?.textContent).toBe('Step 0');
  });
});

describe('the conversation', () => {
  it('says that earlier turns were summarised, and shows the summary', async () => {
    const { model, emit } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(
      {
        type: 'turn_started',
        mode: 'ask',
        notebookMode: 'off',
        tools: [],
        message: 'Go on'
      },
      {
        type: 'context_compacted',
        before: 12,
        after: 2,
        how: 'summary',
        tokensBefore: 20_000,
        tokensAfter: 3000,
        summary: 'They load **cars**.'
      }
    );
    const notice = node.querySelector<HTMLElement>('.da-compacted')!;
    expect(notice.textContent).toBe('Earlier turns were summarised');
    await click(notice.querySelector('button')!);
    expect(notice.textContent).toContain(
      '10 turns · 20k tokens before, 3k now'
    );
    expect(notice.querySelector('strong')?.textContent).toBe('cars');
  });

  it('folds what was taken back, and opens it for a turn that is jumped to', async () => {
    const { model, client } = await makePanel();
    const { id } = await client.createSession();
    client.turns.set(id, [
      turnRecord({ id: 'a', message: 'First' }),
      turnRecord({ id: 'b', message: 'Second', withdrawnAt: 5 })
    ]);
    const node = await draw(model, <Conversation />);
    await act(async () => {
      await model.sessions.open(id);
      await settle();
    });
    expect(node.textContent).toContain('1 turn reverted');
    expect(node.textContent).not.toContain('Second');
    await act(async () => {
      await model.sessions.goTo('b');
      await settle();
    });
    const turn = node.querySelector('[data-turn="b"]')!;
    expect(turn.textContent).toContain('Second');
    expect(turn.className).toContain('da-mod-marked');
    expect(turn.getAttribute('data-withdrawn')).toBe('true');
  });
});

describe("the Strategist's card", () => {
  it('shows the answer, whose citations open turns', async () => {
    const { model, client } = await makePanel();
    const { id } = await client.createSession();
    const cited = turnRecord({ id: 'trn_1', sessionId: id, message: 'Teal!' });
    client.turns.set(id, [cited]);
    client.places.set('trn_1', { turn: cited, responses: [] });
    client.strategistReply = { reply: 'It is teal ([there](turn:trn_1)).' };
    const node = await draw(model, <StrategistCard />);
    await act(async () => {
      await model.strategist.ask('Which colour?');
      await settle();
    });
    expect(node.textContent).toContain('It is teal (there).');
    const link = node.querySelector<HTMLElement>('a[data-da-turn="trn_1"]')!;
    expect(link.getAttribute('href')).toBeNull();
    await click(link);
    expect(model.shown.current.sessionId).toBe(id);
    expect(model.sessions.marked.current).toEqual({ turnId: 'trn_1' });
  });
});
