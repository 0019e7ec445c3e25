import { JupyterFrontEnd } from '@jupyterlab/application';
import { Context } from '@jupyterlab/docregistry';
import { INotebookModel } from '@jupyterlab/notebook';
import { NBTestUtils } from '@jupyterlab/notebook/lib/testutils';
import { RenderMimeRegistry } from '@jupyterlab/rendermime';
import { CommandRegistry } from '@lumino/commands';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { until } from '../../../api/__tests__/support';
import { code, IOpenNotebook, open } from '../../../notebook/__tests__/support';
import { PanelModel } from '../../model';
import { mark } from '../about';
import { addScratchpad } from '../extension';
import {
  FakeClient,
  FakeConnection,
  FakeEditor,
  FakeMemory
} from '../../__tests__/fakes';

let notebook: IOpenNotebook;

beforeEach(async () => {
  notebook = await open([code('a', '1')]);
  addScratchpad({
    app: { commands: new CommandRegistry() } as unknown as JupyterFrontEnd,
    tracker: notebook.tracker,
    palette: null,
    model: new PanelModel({
      client: new FakeClient(),
      connection: new FakeConnection(),
      editor: new FakeEditor(),
      memory: new FakeMemory()
    }),
    rendermime: new RenderMimeRegistry(),
    openSettings: () => undefined,
    openTurn: () => undefined,
    openSession: () => undefined
  });
});

afterEach(() => notebook.close());

const boxes = ({ node }: Widget) =>
  node.querySelectorAll('.da-strategist-bar').length;

it('a closed second view of a notebook hears no more of its name and marks', async () => {
  const context = notebook.panel.context as Context<INotebookModel>;
  const signals = [context.pathChanged, context.model.metadataChanged] as const;
  const connected = signals.map(each => jest.spyOn(each, 'connect'));
  const left = signals.map(each => jest.spyOn(each, 'disconnect'));
  for (let count = 0; count < 20; count++) {
    const view = NBTestUtils.createNotebookPanel(context);
    Widget.attach(view, document.body);
    MessageLoop.flush();
    await notebook.tracker.add(view);
    await until(() => ours(connected[0]).length === count + 1);
    view.content.dispose();
  }
  for (const [place, spy] of connected.entries()) {
    const gone = left[place].mock.calls.map(([slot]) => slot as unknown);
    expect(ours(spy)).toHaveLength(20);
    expect(ours(spy).every(slot => gone.includes(slot))).toBe(true);
  }
  // The first one hears of them as before.
  mark(notebook.panel, true);
  await until(() => boxes(notebook.panel) === 1);
  mark(notebook.panel, false);
  expect(boxes(notebook.panel)).toBe(0);
});

/** What was connected by the scratchpad's parts. */
function ours(spy: jest.SpyInstance): unknown[] {
  return spy.mock.calls
    .map(([slot]) => slot as (...args: unknown[]) => void)
    .filter(({ name }) => name === 'update');
}
