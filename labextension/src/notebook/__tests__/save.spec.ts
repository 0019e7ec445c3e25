import { Dialog, showDialog } from '@jupyterlab/apputils';
import { Contents } from '@jupyterlab/services';

import { Saver } from '../save';
import { until } from '../../api/__tests__/support';
import { code, IOpenNotebook, open } from './support';

let notebook: IOpenNotebook;
let saver: Saver;
let states: string[];

beforeEach(async () => {
  notebook = await open([code('a', '1')]);
  saver = new Saver(notebook.tracker);
  states = [];
  notebook.panel.context.saveState.connect((_, state) => states.push(state));
});

afterEach(async () => {
  Dialog.tracker.forEach(dialog => dialog.resolve(0));
  jest.restoreAllMocks();
  notebook.close();
});

function save(): Promise<string> {
  return saver.save(notebook.panel.context).then(
    () => 'saved',
    (error: Error) => error.message
  );
}

/** How the files are read; the service manager's own mock would call itself. */
function reading(): Contents.IManager['get'] {
  return jest.mocked(notebook.contents.get).getMockImplementation()!;
}

/** Open a dialog, for as long as the test goes on. */
function openDialog(title: string, body: string): void {
  showDialog({ title, body }).catch(() => undefined);
}

/** Let the next reading of the file wait until it is let go. */
function holdReading(): () => void {
  const get = reading();
  let go = () => {};
  const held = new Promise<void>(resolve => (go = resolve));
  jest
    .spyOn(notebook.contents, 'get')
    .mockImplementationOnce((path, options) =>
      held.then(() => get(path, options))
    );
  return go;
}

/** Another program writes the file. */
function writtenElsewhere(): void {
  const get = reading();
  jest
    .spyOn(notebook.contents, 'get')
    .mockImplementation(async (path, options) => ({
      ...(await get(path, options)),
      hash: 'another',
      last_modified: '2100-01-01T00:00:00Z'
    }));
}

it.each([
  ['of something else', 'Select a kernel', 'Which one?'],
  ['about the document', 'Save your work', 'Save "NAME" before closing?'],
  ['about another file', 'File Changed', '"other.ipynb" has changed on disk']
])(
  'a dialog %s that opens meanwhile is none of the save',
  async (_, title, body) => {
    const go = holdReading();
    const saving = save();
    await until(() => states.includes('started'));
    const { path } = notebook.panel.context;
    openDialog(title, body.replace('NAME', path));
    go();
    expect(await saving).toBe('saved');
    expect(states).toEqual(['started', 'completed']);
  }
);

it('a file that another program has written is said, as JupyterLab asks about it', async () => {
  await save();
  writtenElsewhere();
  expect(await save()).toContain('JupyterLab asks the user what to do');
  expect(Dialog.tracker.size).toBe(1);
});

it('a save that fails is said, with its reason', async () => {
  await save();
  jest
    .spyOn(notebook.contents, 'save')
    .mockRejectedValue(new Error('No space left'));
  expect(await save()).toContain('not saved: No space left');
});

it('a save that the user began is waited for, whatever dialog is open', async () => {
  openDialog('Select a kernel', 'Which one?');
  const go = holdReading();
  const theirs = notebook.panel.context.save();
  await until(() => states.includes('started'));
  const ours = save();
  await Promise.resolve();
  expect(states).toEqual(['started']);
  go();
  await theirs;
  expect(await ours).toBe('saved');
  expect(states).toEqual(['started', 'completed', 'started', 'completed']);
});
