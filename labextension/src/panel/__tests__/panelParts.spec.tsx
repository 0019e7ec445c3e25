import React from 'react';

import { STARTED } from '../../session/__tests__/events';
import { ChangesBar } from '../changes/ChangesBar';
import { ContextStrip } from '../composer/attachments/ContextStrip';
import { Conversation } from '../conversation/Conversation';
import { Queue } from '../composer/Queue';
import { suggestionsFor } from '../conversation/suggestions';
import { Welcome } from '../conversation/Welcome';
import { FakeEditor, READY } from './fakes';
import { button, clear, click, doing, draw, makePanel } from './render';

global.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

afterEach(clear);

describe('the changes bar', () => {
  it('counts the changed cells, and goes to one (peers 17)', async () => {
    const { model, emit, editor } = await makePanel();
    const node = await draw(model, <ChangesBar />);
    expect(node.querySelector('[data-testid="da-changes"]')).toBeNull();
    await emit(STARTED, {
      type: 'document_changed',
      path: 'cars.ipynb',
      changes: [
        { path: 'cars.ipynb', op: 'insert', cellId: 'c5', index: 4, after: 'x' }
      ]
    });
    expect(node.textContent).toContain('1 cell changed');
    await click(button(node, 'View'));
    await click(node.querySelector('.da-change-list button'));
    expect(editor.revealed).toEqual([{ path: 'cars.ipynb', cellId: 'c5' }]);
  });
});

describe('waiting messages', () => {
  it('can be taken back, and sent at once', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Queue />);
    await emit(STARTED, { type: 'op_queued', opId: 'op', message: 'Next' });
    expect(node.textContent).toContain('Next');
    await click(button(node, 'Send now'));
    await click(button(node, 'Remove'));
    expect(ops()).toEqual([
      { type: 'send_now', opId: 'op' },
      { type: 'dequeue', opId: 'op' }
    ]);
    await emit({ type: 'op_dequeued', opId: 'op', reason: 'removed' });
    expect(node.textContent).toBe('');
  });

  it('are held after a stop, and say so, until they are sent', async () => {
    const { model, emit, ops } = await makePanel();
    const node = await draw(model, <Queue />);
    await emit(
      STARTED,
      { type: 'op_queued', opId: 'op', message: 'Next' },
      { type: 'op_queued', opId: 'other', message: 'From a cell' },
      { type: 'op_held', opId: 'op' }
    );
    const [held, other] = node.querySelectorAll<HTMLElement>('li');
    expect(held.textContent).toContain('Not sent: stopped');
    expect(other.textContent).not.toContain('Not sent');
    await emit({ type: 'session_reset' });
    expect(node.textContent).toContain('Not sent: stopped');
    await click(button(held, 'Send'));
    expect(ops()).toEqual([{ type: 'send_now', opId: 'op' }]);
  });
});

describe('the context strip', () => {
  const strip = <ContextStrip onOpen={() => undefined} />;
  const chip = (node: HTMLElement) =>
    node.querySelector<HTMLElement>('[data-testid="da-attachment"]');

  it('offers the active notebook, and says what the agent may do with it', async () => {
    const { model } = await makePanel();
    const node = await draw(model, strip);
    expect(chip(node)).toBeNull();
    await click(button(node, 'cars.ipynb'));
    expect(chip(node)?.dataset.notebookMode).toBe('read-only');
    await doing(() => model.composerState.choose({ mode: 'agent' }));
    expect(chip(node)?.dataset.notebookMode).toBe('full');
  });

  it('says why notebook mode is off', async () => {
    const { model, editor } = await makePanel();
    editor.activeNotebook = 'other.ipynb';
    const node = await draw(model, strip);
    await doing(() =>
      model.composerState.attach({ kind: 'notebook', path: 'cars.ipynb' })
    );
    expect(chip(node)?.dataset.notebookMode).toBe('off');
    expect(chip(node)?.textContent).toContain('open it');
  });

  it('takes an attachment away', async () => {
    const { model } = await makePanel();
    const node = await draw(model, strip);
    await click(button(node, 'cars.ipynb'));
    await click(chip(node)?.querySelector('[aria-label="Remove cars.ipynb"]'));
    expect(chip(node)).toBeNull();
  });
});

describe('where no model is ready', () => {
  const NONE = {
    models: [],
    locked: false,
    canConnect: true,
    lockedChoices: [],
    default: undefined,
    ready: false,
    message: 'No key is set.',
    connections: [{ title: 'A key', steps: 'export KEY=...' }]
  };

  it('a conversation says so at its end, until one is connected', async () => {
    const { model, emit, client } = await makePanel();
    const node = await draw(model, <Conversation />);
    await emit(
      STARTED,
      {
        type: 'error',
        code: 'no_model',
        message: 'No key is set.',
        retryable: false
      },
      { type: 'turn_aborted', reason: 'error' }
    );
    client.modelsReply = NONE;
    await doing(() => void model.refreshModels());
    expect(node.textContent).toContain('export KEY=...');
    expect(button(node, 'Try again')).toBeUndefined();
    client.modelsReply = READY;
    await click(button(node, 'Check again'));
    expect(node.textContent).not.toContain('No key is set.');
    expect(node.textContent).not.toContain('export KEY=...');
    expect(button(node, 'Try again')).toBeDefined();
  });

  it('comes to life by itself when the user comes back with one', async () => {
    const { model, client } = await makePanel();
    client.modelsReply = NONE;
    await model.refreshModels();
    const node = await draw(model, <Welcome />);
    expect(node.textContent).toContain('No model is connected yet');
    client.modelsReply = READY;
    await doing(() => window.dispatchEvent(new Event('focus')));
    expect(node.textContent).toContain('Suggestions for');
  });

  it('offers the model that is, when only the chosen one is not', async () => {
    const { model } = await makePanel();
    const node = await draw(model, <Welcome />);
    await doing(() =>
      model.composerState.choose({ model: 'anthropic/claude-test' })
    );
    expect(node.textContent).toContain('ANTHROPIC_API_KEY is not set');
    await click(button(node, 'Use GPT Test'));
    expect(model.composerState.current.model).toBe('openai/gpt-test');
    expect(node.textContent).toContain('Suggestions for');
  });
});

describe('an empty conversation', () => {
  it('says what was looked for and how to connect a model', async () => {
    const { model } = await makePanel();
    model.models.set({
      models: [],
      locked: false,
      canConnect: true,
      lockedChoices: [],
      default: undefined,
      ready: false,
      message: 'No key is set.',
      connections: [{ title: 'A key', steps: 'export KEY=...' }]
    });
    const node = await draw(model, <Welcome />);
    expect(node.textContent).toContain('No key is set.');
    expect(node.textContent).toContain('export KEY=...');
  });

  it('draws three suggestions from the active notebook', () => {
    const editor = new FakeEditor();
    editor.notebookHints = {
      isEmpty: false,
      errors: [{ number: 6, name: 'KeyError', cellId: 'c6', text: '' }],
      frame: 'cars'
    };
    const texts = suggestionsFor(editor, 'cars.ipynb').map(({ text }) => text);
    expect(texts).toHaveLength(3);
    expect(texts[0]).toBe('Fix the KeyError in cell 6');
    expect(texts[1]).toContain('cars');
    expect(suggestionsFor(editor, null)).toHaveLength(3);
  });

  it('suggests what fits to an active Lexical document, and attaches it', async () => {
    const { model, editor } = await makePanel();
    editor.activeLexical = 'papers/report.dlex';
    editor.activeNotebook = null;
    editor.documentHints = { isEmpty: false, error: 'KeyError' };
    const node = await draw(model, <Welcome />);
    expect(node.textContent).toContain('Suggestions for report.dlex');
    const texts = () =>
      suggestionsFor(editor, editor.activeLexical).map(({ text }) => text);
    expect(texts()).toHaveLength(3);
    await click(button(node, 'Fix the KeyError in this document'));
    expect(model.composerState.current.attachments).toMatchObject([
      { kind: 'file', path: 'papers/report.dlex' }
    ]);
    expect(model.composerState.current.mode).toBe('agent');
    editor.documentHints = { isEmpty: false };
    expect(texts()[0]).toBe('Explain what this document says');
    editor.documentHints = { isEmpty: true };
    expect(texts()[0]).toBe('Write a report on a data file from this folder');
    expect(texts().join(' ')).not.toContain('notebook');
  });
});
