import { OutputDrag } from '../outputDrag';

const NOTEBOOK =
  '<div class="jp-Cell-outputArea"><div class="jp-OutputArea-prompt"></div><div class="jp-OutputArea-promptOverlay" title="Its own"></div></div>';

it('leaves the notebooks as they were, with no listener of its own', () => {
  const added = jest.spyOn(document, 'addEventListener');
  const removed = jest.spyOn(document, 'removeEventListener');
  document.body.innerHTML = NOTEBOOK;
  const before = document.body.innerHTML;
  const handles = [...document.querySelectorAll('.jp-Cell-outputArea > div')];
  for (let count = 0; count < 20; count++) {
    const drag = new OutputDrag(() => null);
    handles.forEach(each =>
      each.dispatchEvent(new Event('pointerover', { bubbles: true }))
    );
    expect(document.querySelectorAll('.da-output-handle')).toHaveLength(2);
    expect(handles.map(each => (each as HTMLElement).title)).toEqual([
      'Drag this output to the agent',
      'Its own'
    ]);
    drag.dispose();
  }
  handles.forEach(each => !each.className && each.removeAttribute('class'));
  expect(document.body.innerHTML).toBe(before);
  const ours = (spy: jest.SpyInstance) =>
    spy.mock.calls.filter(([, listener]) => listener instanceof OutputDrag);
  expect(ours(added)).toHaveLength(40);
  expect(ours(removed)).toHaveLength(40);
});
