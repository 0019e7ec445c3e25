import React from 'react';

import { UsageReply } from '../../../api/types';
import { usageRow } from './usageSamples';
import { formatCount, formatRowCost, formatDay, formatTime } from '../usage';
import { ToolsPanelCard } from '../../toolsPanel/ToolsPanelCard';
import { clear, doing, draw, makePanel } from '../../__tests__/render';

afterEach(clear);

const MODELS: UsageReply = {
  by: 'model',
  days: 30,
  since: 0,
  rows: [
    usageRow('openai/gpt-4o-mini', {
      totalTokens: 40_000,
      modelCalls: 3,
      pricedCalls: 3,
      cost: 0.0123,
      durationMs: 4200,
      toolCalls: 7,
      toolErrors: 2
    }),
    usageRow('ollama/qwen3', { totalTokens: 1000, modelCalls: 2 })
  ],
  total: usageRow('total', {
    totalTokens: 41_000,
    modelCalls: 5,
    pricedCalls: 3,
    cost: 0.0123
  })
};

describe('the usage card', () => {
  it('says what was used, and a cost only as far as it is known', async () => {
    const { client, model } = await makePanel();
    client.usageReply = () => MODELS;
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showUsage());
    const rows = [...node.querySelectorAll('tr')].map(row =>
      [...row.children].map(cell => cell.textContent)
    );
    expect(rows).toEqual([
      ['Model', 'Tokens', 'Cost', 'Time', 'Errors'],
      ['gpt-4o-mini', '40.0k', '$0.0123', '4.2 s', '2'],
      ['qwen3', '1,000', '–', '0 s', '0'],
      ['Total', '41.0k', '$0.0123', '0 s', '0']
    ]);
    expect(node.textContent).toContain('Cost known for 3 of 5 model calls.');
    const bars = [...node.querySelectorAll<HTMLElement>('.da-usage-bar span')];
    expect(bars.map(bar => bar.style.width)).toEqual(['100%', '2.5%']);
  });

  it('opens the session of a row; suggested cells have none', async () => {
    const { client, model } = await makePanel();
    client.usageReply = () => ({
      ...MODELS,
      by: 'session',
      rows: [
        usageRow('ses_1', { label: 'Cars' }),
        usageRow('', { label: 'Suggested next cells' })
      ]
    });
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showUsage());
    const [cars, suggested] = [...node.querySelectorAll('tbody th')];
    expect(cars.querySelector('button')?.textContent).toBe('Cars');
    expect(suggested.querySelector('button')).toBeNull();
    expect(suggested.textContent).toBe('Suggested next cells');
  });

  it('asks for what is chosen, and says when there is nothing', async () => {
    const { client, model } = await makePanel();
    const asked: unknown[] = [];
    const usage = client.usage.bind(client);
    client.usage = query => {
      asked.push(query);
      return usage(query);
    };
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showUsage());
    const [by, days] = [...node.querySelectorAll('select')];
    await choose(by, 'session');
    await choose(days, '7');
    expect(asked).toEqual([
      { by: 'day', days: 30 },
      { by: 'session', days: 30 },
      { by: 'session', days: 7 }
    ]);
    expect(node.textContent).toContain('No usage in this period.');
  });
});

async function choose(field: HTMLSelectElement, value: string) {
  await doing(() => {
    field.value = value;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

describe('the words of the usage card', () => {
  it('are short at every size', () => {
    expect([0, 9999, 12_345, 456_789, 4_560_000].map(formatCount)).toEqual([
      '0',
      '9,999',
      '12.3k',
      '457k',
      '4.6M'
    ]);
    expect([0, 1500, 59_000, 61_000, 9e6].map(formatTime)).toEqual([
      '0 s',
      '1.5 s',
      '59 s',
      '1 min',
      '2.5 h'
    ]);
    const cost = (value?: number) =>
      formatRowCost(usageRow('x', { pricedCalls: value ? 1 : 0, cost: value }));
    expect([cost(), cost(0.00001), cost(0.0042), cost(12.3)]).toEqual([
      '–',
      '<$0.0001',
      '$0.0042',
      '$12.30'
    ]);
    expect(formatDay('2026-11-22')).toBe('Sun 22 Nov');
  });
});
