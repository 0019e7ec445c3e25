import { keepingView } from '../view';
import { code, IOpenNotebook, open } from './support';

let notebook: IOpenNotebook;
let field: HTMLInputElement;

beforeEach(async () => {
  notebook = await open([code('a', '1'), code('b', '2')]);
  field = document.createElement('input');
  document.body.append(field);
});

afterEach(() => {
  field.remove();
  notebook.close();
});

it('leaves the focus where it is in the page, in whatever mode the notebook is', () => {
  const { content } = notebook.panel;
  content.activeCellIndex = 1;
  content.mode = 'edit';
  field.focus();
  const lost = jest.fn();
  field.addEventListener('blur', lost);
  const modes: string[] = [];
  keepingView(content, () => {
    modes.push(content.mode);
    notebook.panel.model!.sharedModel.moveCell(1, 0);
  });
  modes.push(content.mode);
  expect(modes).toEqual(['command', 'edit']);
  expect(content.activeCell!.model.id).toBe('b');
  expect(document.activeElement).toBe(field);
  expect(lost).not.toHaveBeenCalled();
});

it('leaves the cursor in the editor in which the user types', async () => {
  const { content } = notebook.panel;
  content.activeCellIndex = 0;
  await content.activeCell!.ready;
  content.mode = 'edit';
  const { editor, node } = content.activeCell!;
  editor!.focus();
  expect(editor!.hasFocus()).toBe(true);
  const lost = jest.fn();
  node.addEventListener('focusout', lost);
  const tabIndex = node.getAttribute('tabindex');
  keepingView(content, () =>
    notebook.panel.model!.sharedModel.insertCell(2, {
      cell_type: 'code',
      source: '3'
    })
  );
  expect(editor!.hasFocus()).toBe(true);
  expect(lost).not.toHaveBeenCalled();
  expect(node.getAttribute('tabindex')).toBe(tabIndex);
});
