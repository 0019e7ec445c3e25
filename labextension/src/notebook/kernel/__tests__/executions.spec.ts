import { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import { ExecutionTracker, IExecutionChange } from '../executions';
import { FakeKernel, OK, raised } from './fakeKernel';
import { code, open } from '../../__tests__/support';

describe('ExecutionTracker', () => {
  let kernel: FakeKernel;
  let tracker: ExecutionTracker;
  let changes: IExecutionChange['kind'][];

  beforeEach(() => {
    kernel = new FakeKernel();
    const panel = { sessionContext: kernel.context, model: null };
    const notebooks = {
      forEach: (visit: (panel: NotebookPanel) => void) =>
        visit(panel as unknown as NotebookPanel),
      widgetAdded: new Signal({})
    };
    tracker = new ExecutionTracker(notebooks as unknown as INotebookTracker);
    changes = [];
    tracker.changed.connect((_, { kind }) => changes.push(kind));
  });

  function cell(id: string) {
    return tracker.get(kernel.context, id);
  }

  it('distinguishes a pending cell from a running one, whoever sent them', () => {
    const first = kernel.send('a');
    kernel.send('b');
    expect(tracker.withStatus(kernel.context, 'pending')).toEqual(['a', 'b']);
    kernel.start(first, 1);
    expect(tracker.withStatus(kernel.context, 'running')).toEqual(['a']);
    expect(tracker.withStatus(kernel.context, 'pending')).toEqual(['b']);
    expect(tracker.hasRequests(kernel.context)).toBe(true);
  });

  it('knows order, success, duration and end of the newest run', () => {
    const request = kernel.send('a');
    kernel.start(request, 4, 100);
    kernel.reply(request, { ...OK, execution_count: 4 }, 350);
    kernel.idle(request);
    expect(cell('a')).toEqual({
      status: 'idle',
      order: 4,
      success: true,
      durationMs: 250,
      endTime: 1_000_350
    });
    expect(changes).toEqual(['sent', 'started', 'finished']);
    const again = kernel.send('a');
    kernel.start(again, 5, 400);
    expect(cell('a')).toMatchObject({ status: 'running', success: true });
    kernel.reply(again, raised('KeyError'), 500);
    expect(cell('a')).toMatchObject({ success: false, durationMs: 100 });
  });

  it('takes a reply that overtakes the news of the start', () => {
    const request = kernel.send('a');
    kernel.reply(request, OK, 300);
    expect(cell('a')?.status).toBe('pending');
    kernel.start(request, 1, 100);
    expect(cell('a')).toMatchObject({ status: 'idle', durationMs: 200 });
    expect(changes).toEqual(['sent', 'started', 'finished']);
  });

  it('does not take a cell that the kernel passed over for one that ran', () => {
    const request = kernel.send('a');
    kernel.reply(request, { status: 'aborted' } as object);
    kernel.idle(request);
    expect(cell('a')).toEqual({ status: 'idle' });
  });

  it('forgets all runs when the kernel restarts', () => {
    kernel.start(kernel.send('a'), 1);
    kernel.setStatus('restarting');
    expect(cell('a')).toBeUndefined();
    expect(tracker.hasRequests(kernel.context)).toBe(false);
    expect(changes.at(-1)).toBe('cleared');
  });

  it('lets a cell wait that was not sent, and not wait any more', () => {
    tracker.schedule(kernel.context, 'a');
    expect(cell('a')?.status).toBe('pending');
    tracker.unschedule(kernel.context, 'a');
    expect(cell('a')?.status).toBe('idle');
    kernel.send('a');
    tracker.unschedule(kernel.context, 'a');
    expect(cell('a')?.status).toBe('pending');
  });
});

it('forgets the runs of a deleted cell also when the first view was closed', async () => {
  const kernel = new FakeKernel();
  const notebook = await open([code('a', '1'), code('b', '2')]);
  const { panel } = notebook;
  kernel.useIn(panel);
  const notebooks = {
    forEach: (visit: (panel: NotebookPanel) => void) => visit(panel),
    widgetAdded: new Signal({})
  };
  const tracker = new ExecutionTracker(
    notebooks as unknown as INotebookTracker
  );
  kernel.start(kernel.send('a'), 1);
  kernel.start(kernel.send('b'), 2);
  const { sharedModel } = panel.model!;
  // Another view shows the same document on.
  panel.dispose();
  expect(panel.model).toBeNull();
  sharedModel.deleteCell(0);
  expect(tracker.get(kernel.context, 'a')).toBeUndefined();
  expect(tracker.get(kernel.context, 'b')).toBeDefined();
  notebook.close();
});
