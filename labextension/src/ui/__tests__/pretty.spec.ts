import { pretty } from '../pretty';

describe('JSON for people', () => {
  it('has a line for each value and text as it is', () => {
    expect(
      pretty({
        cells: [{ id: 'x', source: 'a = 1\nb = 2' }],
        error: null,
        empty: []
      })
    ).toBe(
      'cells:\n  - id: x\n    source:\n      a = 1\n      b = 2\nempty: none'
    );
  });

  it('reads JSON that stands in a text, and shows the lines of what was cut', () => {
    expect(pretty('{"ok": true}')).toBe('ok: true');
    expect(pretty('{"text": "one\\ntwo [... cut')).toBe(
      '{"text": "one\ntwo [... cut'
    );
  });

  it('leaves text alone', () => {
    expect(pretty('two\nlines')).toBe('two\nlines');
  });
});
