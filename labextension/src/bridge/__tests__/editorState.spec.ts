import { JupyterFrontEnd } from '@jupyterlab/application';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { PromiseDelegate } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { EditorState } from '../../api';
import { Documents } from '../../notebook/documents';
import { EditorStateReporter } from '../editorState';
import { code, IOpenNotebook, open } from '../../notebook/__tests__/support';

/** As much of JupyterLab's shell as shows which widget is the active one. */
class FakeShell {
  readonly currentChanged = new Signal<this, unknown>(this);
  readonly layoutModified = new Signal<this, void>(this);
  currentWidget: Widget | null = null;
  main: Widget[] = [];

  widgets(): Iterable<Widget> {
    return this.main;
  }

  activate(widget: Widget | null): void {
    this.currentWidget = widget;
    this.currentChanged.emit(undefined);
  }
}

describe('EditorStateReporter', () => {
  let notebook: IOpenNotebook;
  let shell: FakeShell;
  let reporter: EditorStateReporter;
  let reports: EditorState[];
  let path: string;
  /** Open a file behind the active document; what is returned ends its loading. */
  let openText: (name: string, format: 'text' | 'base64') => () => void;

  beforeEach(async () => {
    notebook = await open([code('a', '1'), code('b', '2'), code('c', '3')]);
    const { panel, tracker, executions } = notebook;
    path = panel.context.localPath;
    shell = new FakeShell();
    shell.main = [panel];
    const contexts = new Map<Widget, unknown>([[panel, panel.context]]);
    openText = (name, format) => {
      const widget = new Widget();
      const loaded = new PromiseDelegate<void>();
      const context = {
        path: name,
        localPath: name,
        contentsModel: undefined as unknown,
        ready: loaded.promise,
        pathChanged: new Signal({}),
        disposed: new Signal({})
      };
      contexts.set(widget, context);
      shell.main = [...shell.main, widget];
      shell.layoutModified.emit();
      return () => {
        context.contentsModel = { type: 'file', format };
        loaded.resolve();
      };
    };
    const manager = {
      contextForWidget: (widget: Widget) => contexts.get(widget),
      services: { contents: { driveName: () => '' } }
    };
    const frontEnd = shell as unknown as JupyterFrontEnd.IShell;
    const documents = new Documents(
      frontEnd,
      tracker,
      manager as unknown as IDocumentManager
    );
    reporter = new EditorStateReporter(
      frontEnd,
      tracker,
      documents,
      executions
    );
    // What opening left to be reported.
    await Promise.resolve();
    reporter.flush();
    reports = [];
    reporter.changed.connect((_, state) => reports.push(state));
  });

  afterEach(() => {
    reporter.dispose();
    notebook.close();
  });

  it('reports which document is the active one', () => {
    expect(reporter.state.activeDocument).toBeUndefined();
    shell.activate(notebook.panel);
    reporter.flush();
    expect(reporter.state.activeDocument).toEqual({ path, kind: 'notebook' });
    shell.activate(new Widget());
    reporter.flush();
    expect(reporter.state.activeDocument).toBeUndefined();
  });

  it('reports the active cell, the mode and the selection of each notebook', () => {
    const { content } = notebook.panel;
    content.activeCellIndex = 1;
    content.select(content.widgets[2]);
    reporter.flush();
    expect(reporter.state.notebooks).toMatchObject([
      {
        path,
        ready: true,
        cellCount: 3,
        activeCellId: 'b',
        editing: false,
        selectedCellIds: ['b', 'c']
      }
    ]);
    content.mode = 'edit';
    reporter.flush();
    expect(reporter.state.notebooks).toMatchObject([
      { editing: true, selectedCellIds: ['b'] }
    ]);
  });

  it('reports only what has changed', () => {
    shell.activate(null);
    reporter.flush();
    notebook.panel.content.activeCellIndex = 1;
    reporter.flush();
    reporter.flush();
    expect(reports).toHaveLength(1);
  });

  it('is not asked for anything by typing', () => {
    const timers = jest.spyOn(window, 'setTimeout');
    const { sharedModel } = notebook.panel.content.widgets[0].model;
    timers.mockClear();
    sharedModel.setSource('more');
    const asked = timers.mock.calls.filter(([, ms]) => ms === 50);
    expect(asked).toHaveLength(0);
    timers.mockRestore();
  });

  it('reports the text files that are open, once it is known what they are', async () => {
    openText('plot.png', 'base64')();
    const load = openText('a.py', 'text');
    reporter.flush();
    expect(reporter.state.files).toEqual([]);
    const reported = new Promise<EditorState>(resolve =>
      reporter.changed.connect((_, state) => resolve(state))
    );
    load();
    expect((await reported).files).toEqual(['a.py']);
    expect(reporter.state.activeDocument).toBeUndefined();
  });

  it('says so by itself, soon after a change', async () => {
    const reported = new Promise<EditorState>(resolve =>
      reporter.changed.connect((_, state) => resolve(state))
    );
    notebook.panel.model!.sharedModel.deleteCell(2);
    expect((await reported).notebooks).toMatchObject([{ cellCount: 2 }]);
  });
});
