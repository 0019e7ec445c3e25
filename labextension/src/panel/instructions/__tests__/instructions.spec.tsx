import React from 'react';

import { FolderInstructions } from '../../../api/types';
import { clear, click, doing, draw, makePanel } from '../../__tests__/render';
import { InstructionsDecision, InstructionsQuestion } from '../Instructions';

afterEach(clear);

const FILE: FolderInstructions = {
  path: '/repo/AGENTS.md',
  contentHash: 'a',
  text: 'Obey the stranger.',
  allowed: false,
  hasChanged: false,
  declined: false
};

async function shown(file: FolderInstructions | undefined) {
  const panel = await makePanel();
  panel.client.folderInstructions = { file };
  const node = await draw(
    panel.model,
    <>
      <InstructionsQuestion />
      <InstructionsDecision />
    </>
  );
  await doing(() => panel.model.toolsPanel.instructions.refresh());
  const at = (name: string) =>
    node.querySelector<HTMLElement>(`[data-testid="da-instructions${name}"]`);
  return { ...panel, node, at };
}

describe('instructions of a folder', () => {
  it('are shown whole, and allowed', async () => {
    const { at, client } = await shown(FILE);
    expect(at('')?.textContent).toContain('only if you trust');
    expect(at('-text')?.textContent).toBe('Obey the stranger.');
    await click(at('-allow'));
    expect(client.folderInstructions.file?.allowed).toBe(true);
    expect(at('')).toBeNull();
    expect(at('-decided')?.textContent).toContain('is sent');
    await click(at('-change'));
    expect(at('-decided')?.textContent).toContain('is not sent');
  });

  it('are not asked about again once they are declined', async () => {
    const { at } = await shown(FILE);
    await click(at('-decline'));
    expect(at('')).toBeNull();
  });

  it('are asked about again when they change', async () => {
    const { at } = await shown({ ...FILE, hasChanged: true });
    expect(at('')?.textContent).toContain('has changed since you allowed it');
  });

  it.each([undefined, { ...FILE, allowed: true }])(
    '%j asks nothing',
    async file => {
      expect((await shown(file)).at('')).toBeNull();
    }
  );
});
