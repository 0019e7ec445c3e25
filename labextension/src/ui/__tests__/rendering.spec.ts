import { IRenderMime, RenderMimeRegistry } from '@jupyterlab/rendermime';
import { standardRendererFactories } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';

import { until } from '../../api/__tests__/support';
import { BlockRenderer } from '../rendering';

const made: Widget[] = [];
let typeset: jest.Mock;
let host: HTMLElement;

function renderer(): BlockRenderer {
  typeset = jest.fn();
  const registry = new RenderMimeRegistry({
    initialFactories: standardRendererFactories,
    latexTypesetter: { typeset } as IRenderMime.ILatexTypesetter,
    markdownParser: {
      render: text => Promise.resolve(`<p>${text}</p>`)
    }
  });
  const create = registry.createRenderer.bind(registry);
  jest.spyOn(registry, 'createRenderer').mockImplementation(type => {
    const widget = create(type);
    made.push(widget);
    return widget;
  });
  return new BlockRenderer(registry, host);
}

beforeEach(() => {
  made.length = 0;
  host = document.createElement('div');
  document.body.append(host);
});

it('sets formulas when the text is whole, as a widget of the page, and takes all away', async () => {
  for (let count = 0; count < 20; count++) {
    const block = renderer();
    block.draw('Of $x', true);
    await until(() => host.textContent === 'Of $x');
    expect(typeset).not.toHaveBeenCalled();
    block.draw('Of $x$', false);
    await until(() => typeset.mock.calls.length > 0);
    expect(host.textContent).toBe('Of $x$');
    const [widget] = made.slice(-1);
    expect(widget.isAttached).toBe(true);
    block.dispose();
    expect(widget.isDisposed).toBe(true);
    expect(widget.isAttached).toBe(false);
    expect(host.childElementCount).toBe(0);
  }
});

it('shows code as it is written also where a whole text stood before', async () => {
  const block = renderer();
  block.draw('Before', false);
  await until(() => host.textContent === 'Before');
  block.draw('```python\nx = 1', true);
  expect(host.textContent).toBe('x = 1');
  block.draw('After', false);
  await until(() => host.textContent === 'After');
  expect(host.childElementCount).toBe(1);
  block.dispose();
  expect(host.childElementCount).toBe(0);
});

it('is drawn where the page does not show it yet', async () => {
  host.remove();
  const block = renderer();
  block.draw('Of $x$', false);
  await until(() => host.textContent === 'Of $x$');
  expect(() => block.dispose()).not.toThrow();
});
