import React from 'react';

import { tutorial } from '../../__tests__/samples';
import { ToolsPanelCard } from '../ToolsPanelCard';
import { QuestionEntry } from '../../conversation/QuestionEntry';
import {
  button,
  clear,
  click,
  doing,
  draw,
  makePanel,
  type
} from '../../__tests__/render';

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
  it('takes the file beside the active notebook, and is sent as a turn', async () => {
    const { client, model, ops } = await makePanel();
    client.workflowsReply = { workflows: [EXPLORE] };
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showWorkflow('explore'));
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
    expect(model.toolsPanel.card.current).toBeNull();
  });

  it('says what is missing, and sends nothing', async () => {
    const { client, editor, model, ops } = await makePanel();
    client.workflowsReply = { workflows: [EXPLORE] };
    editor.dataFiles = async () => [];
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showWorkflow('explore'));
    await click(button(node, 'Run'));
    const field = node.querySelector('input');
    expect(field?.getAttribute('aria-invalid')).toBe('true');
    expect(node.textContent).toContain('Data file is required.');
    expect(ops()).toEqual([]);
    await type(field, 'data/other.csv');
    await click(button(node, 'Run'));
    expect(ops()).toHaveLength(1);
  });

  it('runs once the data files are known, where Run was clicked before', async () => {
    const { client, editor, model, ops } = await makePanel();
    client.workflowsReply = { workflows: [EXPLORE] };
    let found: (files: string[]) => void = () => undefined;
    editor.dataFiles = () => new Promise(resolve => (found = resolve));
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showWorkflow('explore'));
    await click(button(node, 'Run'));
    expect(ops()).toEqual([]);
    expect(node.textContent).toContain('Starting');
    expect(node.textContent).not.toContain('is required');
    await doing(() => found(['cars.csv']));
    expect(ops()).toMatchObject([
      { request: { workflow: { parameters: { data: 'cars.csv' } } } }
    ]);
  });

  it('of a workflow that there is not says so', async () => {
    const { model } = await makePanel();
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showWorkflow('nothing'));
    expect(node.textContent).toContain('There is no workflow “nothing”.');
  });
});

describe('a lesson', () => {
  it('stays where it was opened, and does not follow into a copy', async () => {
    const { client, model } = await makePanel();
    client.tutorialsReply = { tutorials: [tutorial('pandas-basics')] };
    const node = await draw(model, <ToolsPanelCard />);
    const lesson = () => node.querySelector('[data-testid="da-lesson"]');
    await doing(() => model.toolsPanel.openTutorial('pandas-basics'));
    expect(lesson()).not.toBeNull();
    await doing(() => model.history.fork());
    expect(lesson()).toBeNull();
    expect(node.textContent).toBe('');
    await doing(() => model.sessions.startNew());
    expect(lesson()).not.toBeNull();
    await doing(() => model.sessions.open('ses_2'));
    expect(lesson()).toBeNull();
    // One that is opened in the copy is that of the copy.
    await doing(() => model.toolsPanel.openTutorial('pandas-basics'));
    expect(lesson()).not.toBeNull();
    await doing(() => model.toolsPanel.tutorials.goTo(2));
    expect(lesson()).not.toBeNull();
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
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showQuality());
    const meter = node.querySelector('[role="meter"]');
    expect(meter?.getAttribute('aria-valuenow')).toBe('40');
    expect(node.textContent).toContain('Needs work');
    expect(node.textContent).toContain('1 error');
    await click(node.querySelector('button.da-issue'));
    expect(editor.revealed).toEqual([{ path: 'cars.ipynb', cellId: 'c4' }]);
    await click(button(node, 'Ask the agent to improve it'));
    expect(model.composerState.current.mode).toBe('agent');
  });

  it('that cannot be made says why', async () => {
    const { client, model } = await makePanel();
    client.quality = async () => {
      throw new Error('There is no cars.ipynb.');
    };
    const node = await draw(model, <ToolsPanelCard />);
    await doing(() => model.toolsPanel.showQuality());
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
    const node = await draw(model, <QuestionEntry entry={entry} />);
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
