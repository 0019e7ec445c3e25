import {
  IRenderMimeRegistry,
  RenderMimeRegistry,
  standardRendererFactories
} from '@jupyterlab/rendermime';
import React, { act } from 'react';
import { Root, createRoot } from 'react-dom/client';

import { FakeClient, FakeConnection, FakeEditor, FakeMemory } from './fakes';
import { PanelModel } from '../model';
import { PanelSanitizer } from '../../ui/sanitizer';
import { PanelContext } from '../context';

(
  globalThis as unknown as { IS_REACT_ACT_ENVIRONMENT: boolean }
).IS_REACT_ACT_ENVIRONMENT = true;

// As JupyterLab has it, once its theme is there.
document.body.setAttribute('data-jp-theme-light', 'true');
for (const colour of [
  '--jp-brand-color1',
  '--jp-brand-color0',
  '--jp-brand-color2',
  '--jp-error-color0',
  '--jp-error-color1',
  '--jp-error-color2',
  '--jp-success-color0',
  '--jp-success-color1',
  '--jp-success-color2',
  '--jp-ui-font-color1',
  '--jp-ui-font-color2',
  '--jp-ui-font-color3',
  '--jp-ui-font-family',
  '--jp-warn-color0',
  '--jp-warn-color1',
  '--jp-warn-color2'
]) {
  document.body.style.setProperty(colour, '#424242');
}

/** A panel's model over fakes, with a session that is open. */
export async function makePanel() {
  const connection = new FakeConnection();
  const client = new FakeClient();
  const editor = new FakeEditor();
  const memory = new FakeMemory();
  const model = new PanelModel({ connection, client, editor, memory });
  await model.start();
  const { id } = await client.createSession({ title: 'Cars' });
  await model.sessions.open(id);
  const ops = () => connection.ops.map(({ op }) => op);
  const emit = (...events: Parameters<FakeConnection['emit']>[1][]) =>
    act(async () => {
      events.forEach(event =>
        connection.emit(id, { turnId: 'turn_1', ...event })
      );
      await settle();
    });
  return { connection, client, editor, model, ops, emit };
}

/** Draw a component of the panel. */
export async function draw(
  model: PanelModel,
  element: JSX.Element
): Promise<HTMLElement> {
  const node = document.createElement('div');
  document.body.appendChild(node);
  const root = createRoot(node);
  roots.push(root);
  const context = { model, rendermime: rendermime(), openSettings: () => {} };
  await act(async () => {
    root.render(
      <PanelContext.Provider value={context}>{element}</PanelContext.Provider>
    );
    await settle();
  });
  return node;
}

/** Take away all that was drawn. */
export function clear(): void {
  act(() => roots.splice(0).forEach(root => root.unmount()));
  document.body.replaceChildren();
  frames?.mockRestore();
}

/** Click as a user does, and let everything follow from it. */
export async function click(element: Element | null | undefined) {
  await act(async () => {
    (element as HTMLElement).click();
    await settle();
  });
}

/** Press a key in an element. */
export async function press(element: Element | null, key: string) {
  await act(async () => {
    element!.dispatchEvent(
      new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })
    );
    await settle();
  });
}

/** Write into a field, over what is there. */
export async function type(
  field: HTMLInputElement | HTMLTextAreaElement | null,
  text: string
) {
  const { set } = Object.getOwnPropertyDescriptor(
    Object.getPrototypeOf(field),
    'value'
  )!;
  await act(async () => {
    set!.call(field, text);
    field!.dispatchEvent(new Event('input', { bubbles: true }));
    await settle();
  });
}

/** Let the model do something, and let everything follow from it. */
export async function doing(run: () => unknown): Promise<void> {
  await act(async () => {
    await run();
    await settle();
  });
}

/** A button by its label. */
export function button(node: HTMLElement, label: string) {
  return [...node.querySelectorAll('button')].find(
    item => item.textContent === label
  );
}

/** Let the next frame and what waits for it pass. */
export async function settle(): Promise<void> {
  await new Promise(requestAnimationFrame);
  await new Promise(resolve => setTimeout(resolve));
}

/** Let each frame of this test come before what was set is rendered, as it may on a busy page. */
export function hurryFrames(): void {
  frames = jest
    .spyOn(window, 'requestAnimationFrame')
    .mockImplementation(run => {
      queueMicrotask(() => run(performance.now()));
      return 0;
    });
}

let frames: jest.SpyInstance | undefined;
const roots: Root[] = [];

/** JupyterLab's renderers with a small Markdown parser, and our sanitizer. */
function rendermime(): IRenderMimeRegistry {
  const registry = new RenderMimeRegistry({
    initialFactories: standardRendererFactories,
    markdownParser: {
      render: async source =>
        source
          .replace(/^```\w*\n([^]*?)\n```$/gm, '<pre><code>$1</code></pre>')
          .replace(/!\[(.*?)\]\((.*?)\)/g, '<img alt="$1" src="$2">')
          .replace(/\[(.*?)\]\((.*?)\)/g, '<a href="$2">$1</a>')
          .replace(/\*\*(.*?)\*\*/g, '<strong>$1</strong>')
    }
  });
  return registry.clone({ sanitizer: new PanelSanitizer(registry.sanitizer) });
}
