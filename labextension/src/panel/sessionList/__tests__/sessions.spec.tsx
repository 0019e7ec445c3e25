import React from 'react';

import { SessionList } from '../SessionList';
import {
  button,
  clear,
  click,
  doing,
  draw,
  hurryFrames,
  makePanel,
  press,
  settle,
  type
} from '../../__tests__/render';

afterEach(clear);

async function openList() {
  const panel = await makePanel();
  await panel.client.createSession({ title: 'Boats' });
  const node = await draw(panel.model, <SessionList />);
  await click(named(node, 'Sessions'));
  await doing(settle); // The list comes from the server.
  return { ...panel, node };
}

const named = (node: HTMLElement, label: string) =>
  node.querySelector<HTMLElement>(`[aria-label="${label}"]`);

const titles = (node: HTMLElement) =>
  [...node.querySelectorAll('.da-session-title')].map(
    ({ textContent }) => textContent
  );

describe('the list of sessions', () => {
  it('renames one in its place by Enter, and leaves it by Escape', async () => {
    const { node, client } = await openList();
    hurryFrames();
    const field = () =>
      node.querySelector<HTMLInputElement>(
        '[aria-label="Title of the session"]'
      );
    await click(named(node, 'Rename Boats'));
    await type(field(), 'Ships');
    await press(field(), 'Escape');
    expect(titles(node).sort()).toEqual(['Boats', 'Cars']);
    expect(document.activeElement?.textContent).toContain('Boats');
    await click(named(node, 'Rename Boats'));
    await type(field(), 'Ships');
    await press(field(), 'Enter');
    expect(titles(node).sort()).toEqual(['Cars', 'Ships']);
    expect(document.activeElement?.textContent).toContain('Ships');
    expect(client.sessions.get('ses_2')?.title).toBe('Ships');
    expect(named(node, 'Sessions')?.getAttribute('aria-expanded')).toBe('true');
  });

  it('leaves the keyboard where the user goes while renaming', async () => {
    const { node } = await openList();
    await click(named(node, 'Rename Boats'));
    const search = node.querySelector<HTMLElement>('[type="search"]')!;
    await doing(() => search.focus());
    expect(named(node, 'Title of the session')).toBeNull();
    expect(document.activeElement).toBe(search);
  });

  it('deletes one after a question, which Escape answers with no', async () => {
    const { node, client } = await openList();
    hurryFrames();
    await click(named(node, 'Delete Boats'));
    expect(document.activeElement).toBe(button(node, 'Cancel'));
    await press(button(node, 'Cancel')!, 'Escape');
    expect(titles(node)).toHaveLength(2);
    expect(document.activeElement?.textContent).toContain('Boats');
    await click(named(node, 'Delete Boats'));
    await click(button(node, 'Delete'));
    expect(titles(node)).toEqual(['Cars']);
    expect([...client.sessions.keys()]).toEqual(['ses_1']);
  });

  it('does not show it again where a list comes late that still has it', async () => {
    const { node, client } = await openList();
    const late = await client.listSessions();
    client.listSessions = async () => late;
    client.hits = [
      {
        turnId: 't',
        sessionId: 'ses_2',
        sessionTitle: 'Boats',
        role: 'user',
        createdAt: 1,
        marks: [],
        snippet: 'Boats'
      }
    ];
    await click(named(node, 'Delete Boats'));
    await click(button(node, 'Delete'));
    await type(node.querySelector('input'), 'Boats');
    await doing(() => new Promise(resolve => setTimeout(resolve, 400)));
    expect(titles(node)).toEqual(['Cars']);
    expect(node.textContent).toContain('No matching messages');
  });

  it('closes when a message is sent', async () => {
    const { node, model } = await openList();
    const list = () => node.querySelector('[role="dialog"]');
    expect(list()).not.toBeNull();
    await doing(() => model.send('Hello'));
    expect(list()).toBeNull();
  });

  it('shows what an answer said as plain text', async () => {
    const { node, client } = await openList();
    const snippet = '## Means  Use **`mean`** of [the docs](https://a.b)';
    const at = snippet.indexOf('mean`');
    const hit = {
      sessionId: 'ses_2',
      sessionTitle: 'Boats',
      createdAt: 1,
      marks: [{ start: at, end: at + 4 }],
      snippet
    };
    client.hits = [
      { ...hit, turnId: 't', role: 'assistant' },
      { ...hit, turnId: 'u', role: 'user' }
    ];
    await type(node.querySelector('input'), 'mean');
    await doing(() => new Promise(resolve => setTimeout(resolve, 400)));
    const shown = [...node.querySelectorAll('.da-hit-text')];
    expect(shown.map(each => each.textContent)).toEqual([
      'Agent: Means  Use mean of the docs',
      // As it is in the conversation.
      `You: ${snippet}`
    ]);
    expect(shown[0].querySelector('mark')?.textContent).toBe('mean');
  });

  it('says of one that runs that it is stopped', async () => {
    const { node, client } = await openList();
    client.sessions.get('ses_2')!.runningTurnId = 'turn';
    await type(node.querySelector('input'), 'x');
    await type(node.querySelector('input'), '');
    await click(named(node, 'Delete Boats'));
    expect(node.querySelector('[role="alertdialog"]')?.textContent).toContain(
      'It is running and will be stopped.'
    );
  });
});
