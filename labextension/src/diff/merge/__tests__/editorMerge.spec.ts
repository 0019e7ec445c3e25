import { EditorView } from '@codemirror/view';

import { applyHunks, EditorMerge, IHunk } from '..';

const BASE = 'a = 1\nb = 2\nc = 3\nd = 4';

const NOWHERE = { obstacle: () => null, write: () => undefined };

/** Writes into an editor, unless something is in its way. */
const writeIn = (view: EditorView, obstacle: () => string | null) => ({
  obstacle,
  write: (hunks: readonly IHunk[]) =>
    view.dispatch({
      changes: hunks.map(({ from, to, insert }) => ({ from, to, insert }))
    })
});

/** An editor with a proposal; what is accepted is written into it. */
function setUp(
  proposed: string,
  base = BASE,
  obstacle: () => string | null = () => null
) {
  const view = new EditorView({ doc: base });
  const merge = new EditorMerge(view, base, writeIn(view, obstacle));
  merge.show(proposed, true);
  const text = () => view.state.doc.toString();
  const type = (place: number, insert: string) =>
    view.dispatch({ changes: { from: place, insert } });
  return { view, merge, text, type };
}

describe('EditorMerge', () => {
  it('shows a proposal and leaves the text as it is', () => {
    const { view, merge, text } = setUp('a = 10\nb = 2\nc = 3\nd = 40');
    expect(text()).toBe(BASE);
    expect(view.dom.querySelectorAll('.da-removed-line')).toHaveLength(2);
    const added = [...view.dom.querySelectorAll('.da-added-line')];
    expect(added.map(({ textContent }) => textContent)).toEqual([
      'a = 10',
      'd = 40'
    ]);
    merge.dispose();
    expect(text()).toBe(BASE);
    expect(view.dom.querySelector('.da-added, .da-removed-line')).toBeNull();
  });

  it('writes what is accepted and nothing that is rejected', () => {
    const { merge, text } = setUp('a = 10\nb = 2\nc = 3\nd = 40');
    const [first, second] = merge.hunks.map(({ id }) => id);
    merge.accept([second]);
    expect(text()).toBe('a = 1\nb = 2\nc = 3\nd = 40');
    merge.reject([first]);
    expect(merge.hunks).toEqual([]);
    expect(text()).toBe('a = 1\nb = 2\nc = 3\nd = 40');
  });

  it('keeps what the user types in other lines meanwhile', () => {
    const { merge, text, type } = setUp('a = 10\nb = 2\nc = 3\nd = 40');
    type(BASE.indexOf('c'), '# mine\n');
    type(0, '# top\n');
    const open = merge.hunks.filter(({ touched }) => !touched);
    merge.accept(open.map(({ id }) => id));
    expect(text()).toContain('# mine\nc = 3\nd = 40');
  });

  it('finds hunks in which the user has typed since', () => {
    const { merge, type } = setUp('a = 10\nb = 2\nc = 3\nd = 40');
    type(BASE.length, '4');
    expect(merge.hunks.map(({ touched }) => touched)).toEqual([false, true]);
  });

  it.each([
    ['below', BASE, 'a = 1\nb = 2\nc = 3\nd = 40', BASE.length, '\n# mine'],
    ['in the middle', BASE, 'a = 1\nb = 20\nc = 3\nd = 4', 11, '\n# mine'],
    ['above', BASE, 'a = 10\nb = 2\nc = 3\nd = 4', 0, '# mine\n'],
    ['below all', 'a = 1', 'a = 10', 5, '\n# mine'],
    ['below an empty line', 'a\n\nb', 'a\nx\nb', 2, '\n# mine'],
    ['above an empty line', 'a\n\nb', 'a\nx\nb', 2, '# mine\n']
  ])(
    'leaves a whole line that the user puts at the edge of a change: %s',
    (_, base, proposed, place, line) => {
      const { view, merge, text, type } = setUp(proposed, base);
      const removed = view.dom.querySelectorAll('.da-removed-line').length;
      [...line].forEach((letter, index) => type(place + index, letter));
      expect(merge.hunks.map(({ touched }) => touched)).toEqual([false]);
      expect(view.dom.querySelectorAll('.da-removed-line')).toHaveLength(
        removed
      );
      merge.accept([0]);
      expect(text().split('\n').sort()).toEqual(
        [...proposed.split('\n'), '# mine'].sort()
      );
      // The same where the line was there before the proposal came.
      const now = base.slice(0, place) + line + base.slice(place);
      const late = new EditorMerge(new EditorView({ doc: now }), base, NOWHERE);
      late.show(proposed, true);
      expect(late.hunks.map(({ touched }) => touched)).toEqual([false]);
    }
  );

  it.each(['a = 10\nb = 2\nc = 3\nd = 4', 'a = 1\nb = 2\nx\nc = 3\nd = 4'])(
    'shows nothing of what has been written already: %j',
    now => {
      const merge = new EditorMerge(
        new EditorView({ doc: `${now}\n# mine` }),
        BASE,
        NOWHERE
      );
      merge.show(now.replace('d = 4', 'd = 40'), true);
      expect(merge.hunks.map(({ added }) => added)).toEqual(['d = 40']);
    }
  );

  it('is no longer touched by what was taken back', () => {
    const { view, merge, type } = setUp('a = 10\nb = 2\nc = 3\nd = 4');
    type(5, '1');
    expect(merge.hunks[0].touched).toBe(true);
    view.dispatch({ changes: { from: 5, to: 6 } });
    expect(merge.hunks[0].touched).toBe(false);
  });

  it('applies a proposal to a text that was typed in during the stream', () => {
    const { view, merge, text } = setUp('');
    merge.dispose();
    const late = new EditorMerge(
      view,
      BASE,
      writeIn(view, () => null)
    );
    late.show('a = 10\nb', false);
    view.dispatch({ changes: { from: 12, insert: '# mine\n' } });
    late.show('a = 10\nb = 2\nc = 3\nd = 40', true);
    expect(late.hunks.map(({ touched }) => touched)).toEqual([false, false]);
    late.accept(late.hunks.map(({ id }) => id));
    expect(text()).toBe('a = 10\nb = 2\n# mine\nc = 3\nd = 40');
  });

  it('adds lines at both ends, and to an empty text', () => {
    const both = setUp(`# top\n${BASE}\ne = 5`);
    both.merge.accept(both.merge.hunks.map(({ id }) => id));
    expect(both.text()).toBe(`# top\n${BASE}\ne = 5`);
    const empty = setUp('x = 1\ny = 2', '');
    empty.merge.accept([0]);
    expect(empty.text()).toBe('x = 1\ny = 2');
    expect(applyHunks('', [])).toBe('');
  });

  it('keeps the line break at the end of a file', () => {
    const { merge, text } = setUp('a = 2', 'a = 1\n');
    merge.accept(merge.hunks.map(({ id }) => id));
    expect(text()).toBe('a = 2\n');
  });

  it('draws a proposal as it grows by what is new in it, and in the end as if it came at once', () => {
    const base = 'a = 1\nold = 2\nz = 9';
    const lines = Array.from({ length: 200 }, (_, at) => `row${at} = ${at}`);
    const text = ['a = 1', ...lines, 'z = 9'].join('\n');
    const view = new EditorView({ doc: base });
    const merge = new EditorMerge(view, base, NOWHERE);
    const made = jest.spyOn(document, 'createElement');
    let pieces = 0;
    const start = performance.now();
    for (let end = 0; end < text.length; end += 5) {
      merge.show(text.slice(0, end), false);
      pieces++;
    }
    merge.show(text, true);
    const took = performance.now() - start;
    const streamed = made.mock.calls.length;
    made.mockRestore();
    const whole = new EditorView({ doc: base });
    const spy = jest.spyOn(document, 'createElement');
    new EditorMerge(whole, base, NOWHERE).show(text, true);
    const once = spy.mock.calls.length;
    spy.mockRestore();
    const added = (each: EditorView) =>
      each.dom.querySelector('.da-added')!.innerHTML;
    if (process.env.MEASURE === '1') {
      process.stderr.write(`${streamed} elements, ${took.toFixed(0)} ms\n`);
    }
    expect(added(view)).toBe(added(whole));
    expect(view.dom.querySelectorAll('.da-added-line')).toHaveLength(200);
    // A row is drawn anew while it grows, in two or three pieces; all others stay.
    expect(once).toBeGreaterThan(200);
    expect(streamed).toBeLessThan(4 * once + 10 * pieces);
  });

  it('keeps the elements of lines that are as they were, and drops those that are gone', () => {
    const view = new EditorView({ doc: 'a = 1' });
    const merge = new EditorMerge(view, 'a = 1', NOWHERE);
    const rows = () => [...view.dom.querySelectorAll('.da-added-line')];
    merge.show('b = 1\nc = 2\nd = 3', true);
    const [first, second] = rows();
    merge.show('b = 1\nc = 3', true);
    expect(rows()).toEqual([first, second]);
    expect(rows().map(({ textContent }) => textContent)).toEqual([
      'b = 1',
      'c = 3'
    ]);
    expect(view.dom.querySelectorAll('.da-hunk-controls')).toHaveLength(1);
  });

  it('shows a proposal for lines that end otherwise as if they ended in line feeds', () => {
    const base = 'a = 1\r\nb = 2\rc = 3\r\n';
    const { view, merge, text } = setUp('a = 1\r\nb = 20\r\nc = 3', base);
    expect(view.dom.querySelectorAll('.da-removed-line')).toHaveLength(1);
    expect(merge.hunks.map(({ added }) => added)).toEqual(['b = 20']);
    merge.accept([0]);
    expect(text()).toBe('a = 1\nb = 20\nc = 3\n');
  });

  it('leaves a change undecided where the document cannot be written to', () => {
    let obstacle: string | null = 'It is locked.';
    const { merge, text } = setUp(
      'a = 10\nb = 2',
      'a = 1\nb = 2',
      () => obstacle
    );
    const refused: string[] = [];
    merge.refused.connect((_, reason) => refused.push(reason));
    merge.accept([0]);
    expect([refused, text()]).toEqual([['It is locked.'], 'a = 1\nb = 2']);
    expect([merge.hunks.length, merge.hasAccepted]).toEqual([1, false]);
    obstacle = null;
    merge.accept([0]);
    expect(text()).toBe('a = 10\nb = 2');
  });
});
