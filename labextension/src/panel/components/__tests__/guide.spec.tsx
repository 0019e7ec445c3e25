import React from 'react';

import { GuideCard } from '../GuideCard';
import { Question } from '../Question';
import { button, clear, click, doing, draw, makePanel, type } from './render';

afterEach(clear);

const EXPLORE = {
  id: 'explore',
  name: 'Explore',
  description: 'Look at a file.',
  requiredTools: [],
  steps: [],
  parameters: {
    properties: {
      data: { type: 'string', description: 'A file.' },
      target: { type: 'string', default: null }
    },
    required: ['data']
  }
};

describe('the form of a workflow', () => {
  it('takes the file beside the notebook in front, and is sent as a turn', async () => {
    const { client, model, ops } = await makePanel();
    client.workflowsReply = { workflows: [EXPLORE] };
    const node = await draw(model, <GuideCard />);
    await doing(() => model.guide.showWorkflow('explore'));
    expect(node.querySelector('select')?.value).toBe('cars.csv');
    await click(button(node, 'Run'));
    expect(ops()).toMatchObject([
      {
        type: 'user_message',
        request: {
          message: 'Explore of cars.csv',
          workflow: { id: 'explore', parameters: { data: 'cars.csv' } }
        }
      }
    ]);
    expect(model.guide.card.current).toBeNull();
  });

  it('says what is missing, and sends nothing', async () => {
    const { client, editor, model, ops } = await makePanel();
    client.workflowsReply = { workflows: [EXPLORE] };
    editor.dataFiles = async () => [];
    const node = await draw(model, <GuideCard />);
    await doing(() => model.guide.showWorkflow('explore'));
    await click(button(node, 'Run'));
    const field = node.querySelector('input');
    expect(field?.getAttribute('aria-invalid')).toBe('true');
    expect(node.textContent).toContain('Data file is needed.');
    expect(ops()).toEqual([]);
    await type(field, 'data/other.csv');
    await click(button(node, 'Run'));
    expect(ops()).toHaveLength(1);
  });

  it('of a workflow that there is not says so', async () => {
    const { model } = await makePanel();
    const node = await draw(model, <GuideCard />);
    await doing(() => model.guide.showWorkflow('nothing'));
    expect(node.textContent).toContain('There is no workflow “nothing”.');
  });
});

describe('the quality report', () => {
  it('names severities in words, and leads to the cells', async () => {
    const { client, editor, model } = await makePanel();
    client.qualityReport = {
      score: 40,
      suggestions: ['Give it a title.'],
      issues: [
        {
          severity: 'error',
          rule: 'failed',
          message: 'KeyError.',
          cellId: 'c4',
          index: 3
        }
      ]
    };
    const node = await draw(model, <GuideCard />);
    await doing(() => model.guide.showQuality());
    const meter = node.querySelector('[role="meter"]');
    expect(meter?.getAttribute('aria-valuenow')).toBe('40');
    expect(node.textContent).toContain('Needs work');
    expect(node.textContent).toContain('1 error');
    await click(node.querySelector('button.da-issue'));
    expect(editor.revealed).toEqual([{ path: 'cars.ipynb', cellId: 'c4' }]);
    await click(button(node, 'Ask the agent to improve it'));
    expect(model.choices.current.mode).toBe('agent');
  });

  it('that cannot be made says why', async () => {
    const { client, model } = await makePanel();
    client.quality = async () => {
      throw new Error('There is no cars.ipynb.');
    };
    const node = await draw(model, <GuideCard />);
    await doing(() => model.guide.showQuality());
    expect(node.querySelector('[role="alert"]')?.textContent).toContain(
      'There is no cars.ipynb.'
    );
  });
});

describe('a question with many options', () => {
  it('is narrowed by what is typed', async () => {
    const { model, ops } = await makePanel();
    const options = Array.from({ length: 60 }, (_, i) => `data/file_${i}.csv`);
    const entry = {
      kind: 'question' as const,
      id: 'ask_1',
      question: 'Which file?',
      options,
      open: true
    };
    const node = await draw(model, <Question entry={entry} />);
    expect(node.querySelectorAll('.da-option-list button')).toHaveLength(60);
    await type(node.querySelector('input'), 'FILE_42');
    expect(node.querySelectorAll('.da-option-list button')).toHaveLength(1);
    await click(button(node, 'data/file_42.csv'));
    expect(ops()).toEqual([
      {
        type: 'user_input_answer',
        requestId: 'ask_1',
        answer: 'data/file_42.csv'
      }
    ]);
  });
});
