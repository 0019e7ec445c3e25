import React, { act } from 'react';

import { ContextReply } from '../../../../api/types';
import { ContextStrip } from '../ContextStrip';
import { showWhatIsSent } from '../WhatIsSent';
import { clear, draw, makePanel, settle } from '../../../__tests__/render';

const REPLY: ContextReply = {
  text: '<context>\nNotebook cars.ipynb: 3 cells\n</context>',
  tokens: 300,
  parts: [],
  notebookMode: 'full',
  request: {
    mode: 'agent',
    model: 'openai/my-model',
    instructions: 'You are an agent.',
    instructionsTokens: 1200,
    tools: ['getNotebookCells', 'addNotebookCell'],
    toolsTokens: 2300,
    historyTurns: 2,
    historyItems: 9,
    historyTokens: 1400,
    contextTokens: 300,
    totalTokens: 5200
  }
};

afterEach(async () => {
  await act(async () => {
    document.querySelector<HTMLElement>('.jp-Dialog .jp-mod-accept')?.click();
    await settle();
  });
  clear();
});

/** A panel whose server answers so; `asked` is what the strip asks for first. */
async function drawn(answer: () => Promise<ContextReply>) {
  const panel = await makePanel();
  const asked = new Promise<object>(resolve => {
    Object.assign(panel.client, {
      context: (options: object) => {
        resolve(options);
        return answer();
      }
    });
  });
  panel.model.composerState.choose({
    mode: 'agent',
    attachments: [{ kind: 'file', path: 'notes.txt' }]
  });
  const node = await draw(
    panel.model,
    <ContextStrip onOpen={() => undefined} />
  );
  const options = await asked;
  await act(settle);
  const size = node.querySelector<HTMLElement>('.da-context-size');
  return { ...panel, options, size };
}

describe('how much will be sent', () => {
  it('is asked for as the next message would be sent', async () => {
    const { options, model, connection } = await drawn(async () => REPLY);
    expect(options).toEqual({
      sessionId: model.shown.current.sessionId,
      mode: 'agent',
      model: undefined,
      toolReferences: [],
      attachments: [{ kind: 'file', path: 'notes.txt' }],
      activeNotebook: 'cars.ipynb',
      clientId: connection.clientId,
      location: 'panel'
    });
  });

  it('is the whole of the request, and an estimate', async () => {
    const { size } = await drawn(async () => REPLY);
    expect(size?.textContent).toBe('≈\u00a05.2k tokens');
  });

  it('says why nothing can be sent', async () => {
    const { size } = await drawn(async () => {
      throw new Error('The attached file notes.txt does not exist.');
    });
    expect(size?.textContent).toBe('cannot be sent');
    expect(size?.title).toContain('notes.txt does not exist');
  });
});

describe('what will be sent', () => {
  const dialog = async (answer: () => Promise<ContextReply>) => {
    await act(async () => {
      void showWhatIsSent(answer);
      await settle();
      await settle();
    });
    return document.querySelector<HTMLElement>('.jp-Dialog')!;
  };

  it('names every part with its size, and shows the texts', async () => {
    const node = await dialog(async () => REPLY);
    const text = node.textContent!;
    expect(text).toContain('What will be sent (about 5.2k tokens)');
    expect(text).toContain('To openai/my-model, in Agent mode');
    expect(text).toContain('Instructions for Agent mode · 1.2k tokens');
    expect(text).toContain('You are an agent.');
    expect(text).toContain('Descriptions of 2 tools · 2.3k tokens');
    expect(text).toContain('getNotebookCells');
    expect(text).toContain('2 turns, 9 items');
    expect(text).toContain('1.4k tokens');
    expect(text).toContain('Notebook cars.ipynb: 3 cells');
  });

  const part = (tokens: number) => ({
    kind: 'notebook' as const,
    names: [],
    path: 'cars.ipynb',
    text: 'Notebook cars.ipynb: 3 cells',
    tokens
  });

  it('says of a context that did not change that it was sent before', async () => {
    const known = { ...REPLY, text: '', tokens: 0, parts: [part(0)] };
    const node = await dialog(async () => known);
    expect(node.textContent).toContain(
      'Current context · unchanged since it was sentNotebook cars.ipynb: 3 cells'
    );
  });

  it('says which of several parts were sent before', async () => {
    const some = { ...REPLY, tokens: 40, parts: [part(0), part(40)] };
    const text = (await dialog(async () => some)).textContent!;
    expect(text).toContain('Current context · 40 tokens');
    expect(text).toContain('cars.ipynb · unchanged since it was sent');
    expect(text).toContain('cars.ipynb · 40 tokens');
  });

  it('shows what is wrong where it cannot be built', async () => {
    const node = await dialog(async () => {
      throw new Error('The attached file notes.txt does not exist.');
    });
    expect(node.textContent).toContain('Cannot show what will be sent');
    expect(node.textContent).toContain('notes.txt does not exist');
  });
});
