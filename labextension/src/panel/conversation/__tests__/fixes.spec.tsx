import React from 'react';

import { STARTED } from '../../../session/__tests__/events';
import { FixLine } from '../FixLine';
import { FixChips } from '../Fixes';
import { Welcome } from '../Welcome';
import {
  button,
  clear,
  click,
  doing,
  draw,
  makePanel
} from '../../__tests__/render';

afterEach(clear);

const error = (number: number, text = 'KeyError') => ({
  number,
  name: 'KeyError',
  cellId: `c${number}`,
  text
});

const fix = (title: string) => ({
  id: title,
  title,
  explanation: 'It is called so',
  safe: true,
  calls: []
});

const fixes = (node: HTMLElement) => [
  ...node.querySelectorAll<HTMLElement>('[data-testid="da-fix"]')
];

async function inConversation() {
  const panel = await makePanel();
  panel.client.fixesReply = {
    path: 'cars.ipynb',
    cellId: '',
    fixes: [fix('Use Horsepower')]
  };
  const { editor } = panel;
  const node = await draw(panel.model, <FixLine />);
  await panel.emit(STARTED, { type: 'turn_aborted', reason: 'interrupted' });
  const fail = (number: number, text?: string) =>
    doing(() => {
      editor.errors[`c${number}`] = error(number, text);
      editor.failed.emit({ path: 'cars.ipynb', cellId: `c${number}` });
    });
  return { ...panel, node, fail };
}

describe('the line with fixes in a conversation', () => {
  it('is about the newest cell that failed, and opens to the others', async () => {
    const { node, fail, ops, client } = await inConversation();
    expect(node.textContent).toBe('');
    expect(client.fixesAsked).toEqual([]);
    await fail(4);
    await fail(5);
    expect(fixes(node)).toHaveLength(1);
    expect(node.textContent).toContain('Fix cell 5');
    await click(button(node, 'and 1 more'));
    expect(node.textContent).toContain('Fix cell 4');
    await click(fixes(node)[0]);
    expect(ops()[0]).toMatchObject({
      type: 'user_message',
      request: {
        message: 'Fix cell 5: Use Horsepower',
        workflow: {
          id: 'fix-error',
          parameters: { cellId: 'c5', fixId: 'Use Horsepower' }
        }
      }
    });
  });

  it('is gone when the cell ended well or shows another error, and in another notebook', async () => {
    const { node, fail, editor } = await inConversation();
    await fail(4);
    await doing(() => editor.ran.emit({ path: 'cars.ipynb', cellId: 'c4' }));
    expect(node.textContent).toBe('');
    await fail(4);
    expect(fixes(node)).toHaveLength(1);
    editor.activeNotebook = 'other.ipynb';
    await doing(() => editor.changed.emit());
    expect(node.textContent).toBe('');
    editor.activeNotebook = 'cars.ipynb';
    delete editor.errors.c4;
    await doing(() => editor.changed.emit());
    expect(node.textContent).toBe('');
  });

  it('asks once about an error, and not again for one that was closed', async () => {
    const { node, fail, client } = await inConversation();
    await fail(4);
    await fail(4);
    expect(client.fixesAsked).toEqual(['c4']);
    await click(node.querySelector('[aria-label^="Dismiss"]'));
    await fail(4);
    expect(node.textContent).toBe('');
    expect(client.fixesAsked).toEqual(['c4']);
    await fail(4, 'NameError');
    expect(fixes(node)).toHaveLength(1);
    expect(client.fixesAsked).toEqual(['c4', 'c4']);
  });

  it('says nothing while a turn runs; what failed meanwhile, run by the user, is offered after it', async () => {
    const { node, fail, emit, client } = await inConversation();
    await fail(4);
    await emit({ ...STARTED, turnId: 'turn_2' });
    expect(node.textContent).toBe('');
    await fail(5);
    expect(node.textContent).toBe('');
    await emit({
      type: 'turn_aborted',
      reason: 'interrupted',
      turnId: 'turn_2'
    });
    expect(node.textContent).toContain('Fix cell 5');
    expect(client.fixesAsked).toEqual(['c4', 'c5']);
  });
});

describe('the start page', () => {
  it('offers fixes for each cell that shows an error, and asks once for each', async () => {
    const { model, client, editor } = await makePanel();
    client.fixesReply = {
      path: 'cars.ipynb',
      cellId: '',
      fixes: [fix('Use Horsepower')]
    };
    editor.notebookHints = { isEmpty: false, errors: [error(4), error(5)] };
    const node = await draw(model, <Welcome />);
    expect(node.textContent).toContain('Fix cell 4');
    expect(node.textContent).toContain('Fix cell 5');
    await doing(() => editor.changed.emit());
    await draw(model, <Welcome />);
    expect(client.fixesAsked).toEqual(['c4', 'c5']);
  });
});

describe('the fixes of a block in a Lexical document', () => {
  it('name a block, also in the message that carries one out', async () => {
    const { model, ops } = await makePanel();
    const offer = {
      path: 'report.dlex',
      cellId: 'b1',
      fixes: [fix('Use Horsepower')]
    };
    const node = await draw(model, <FixChips offer={offer} />);
    expect(node.textContent).toContain('Fix the block');
    await click(fixes(node)[0]);
    expect(ops()[0]).toMatchObject({
      type: 'user_message',
      request: { message: 'Fix the block: Use Horsepower' }
    });
  });
});
