import { createHash } from 'crypto';

import { hashSource } from '../hash';
import { minimalSplice } from '../text';

function apply(before: string, after: string): string {
  const splice = minimalSplice(before, after);
  return splice
    ? before.slice(0, splice.start) + splice.insert + before.slice(splice.end)
    : before;
}

describe('minimalSplice', () => {
  it.each([
    ['', 'a'],
    ['a', ''],
    ['abc', 'abXc'],
    ['aaa', 'aa'],
    ['aa', 'aaa'],
    ['one two', 'one 2 two'],
    ['x😀y', 'x😁y'],
    ['😀', '😀😀'],
    ['a😀', 'a😁'],
    ['😀b', '\ud83db'],
    ['line\r\n', 'line\n']
  ])('makes %j into %j', (before, after) => {
    expect(apply(before, after)).toBe(after);
  });

  it('touches only what differs', () => {
    expect(
      minimalSplice('a = 1\nb = 2\nc = 3', 'a = 1\nb = 20\nc = 3')
    ).toEqual({ start: 11, end: 11, insert: '0' });
  });

  it('is nothing where nothing differs', () => {
    expect(minimalSplice('same', 'same')).toBeNull();
  });

  it('never cuts a surrogate pair', () => {
    // The two share their first half.
    expect(minimalSplice('😀', '😁')).toEqual({
      start: 0,
      end: 2,
      insert: '😁'
    });
    // These share their second half.
    expect(minimalSplice('\u{1f600}', '\u{1fa00}')).toEqual({
      start: 0,
      end: 2,
      insert: '\u{1fa00}'
    });
  });
});

describe('hashSource', () => {
  it.each(['', 'print(1)', 'ä😀\n'])(
    'is the SHA-256 of %j in UTF-8',
    source => {
      const expected = createHash('sha256')
        .update(source, 'utf8')
        .digest('hex');
      expect(hashSource(source)).toBe(expected);
    }
  );
});
