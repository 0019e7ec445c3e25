import { NotebookModel, NotebookPanel } from '@jupyterlab/notebook';

import { kernelOf } from '../kernel';

/** A notebook with this metadata, whose kernel could not be started. */
function withoutKernel(metadata: Record<string, object>): NotebookPanel {
  const model = new NotebookModel();
  for (const [name, value] of Object.entries(metadata)) {
    model.setMetadata(name, value);
  }
  const sessionContext = { session: null, isReady: true };
  return { model, sessionContext } as unknown as NotebookPanel;
}

describe('the kernel of a notebook that has none', () => {
  it.each([
    [{ kernelspec: { name: 'ir', language: 'R' } }, 'ir', 'R'],
    [{ kernelspec: { name: 'ir' } }, 'ir', undefined],
    [{ language_info: { name: 'julia' } }, undefined, 'julia'],
    [{}, undefined, undefined]
  ])('is known from %j', (metadata, kernelName, kernelLanguage) => {
    expect(kernelOf(withoutKernel(metadata))).toEqual({
      kernelId: undefined,
      kernelName,
      kernelLanguage,
      kernelStatus: undefined
    });
  });
});
