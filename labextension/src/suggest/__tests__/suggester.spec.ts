import { DisposableDelegate } from '@lumino/disposable';

import { DELAY_MS, Suggester } from '../suggester';

/** A suggester whose model answers when the test says so. */
function bench() {
  const asked: { place: string; signal: AbortSignal }[] = [];
  const shown: string[] = [];
  let answer: (source: string) => void = () => undefined;
  let type: () => void = () => undefined;
  const suggester = new Suggester<string>({
    ask: (place, signal) => {
      asked.push({ place, signal });
      return new Promise(resolve => {
        answer = resolve;
      });
    },
    show: (place, source) => {
      const text = `${place}: ${source}`;
      shown.push(text);
      return new DisposableDelegate(() => shown.splice(shown.indexOf(text), 1));
    },
    onUserTyping: listener => {
      type = listener;
      return new DisposableDelegate(() => {
        type = () => undefined;
      });
    }
  });
  return {
    suggester,
    asked,
    shown,
    type: () => type(),
    answer: async (source: string) => {
      answer(source);
      await Promise.resolve();
      await Promise.resolve();
    }
  };
}

describe('Suggester', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('asks after the delay, once for the newest run, and shows the answer', async () => {
    const { suggester, asked, shown, answer } = bench();
    suggester.ran('one');
    jest.advanceTimersByTime(DELAY_MS - 1);
    suggester.ran('two');
    jest.advanceTimersByTime(DELAY_MS - 1);
    expect(asked).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(asked.map(({ place }) => place)).toEqual(['two']);
    await answer('x = 1');
    expect(shown).toEqual(['two: x = 1']);
  });

  it('is cancelled by typing before it asks, while the model works, and when it is shown', async () => {
    const { suggester, asked, shown, answer, type } = bench();
    suggester.ran('one');
    type();
    jest.advanceTimersByTime(DELAY_MS);
    expect(asked).toEqual([]);

    suggester.ran('one');
    jest.advanceTimersByTime(DELAY_MS);
    type();
    expect(asked[0].signal.aborted).toBe(true);
    await answer('x = 1');
    expect(shown).toEqual([]);

    suggester.ran('one');
    jest.advanceTimersByTime(DELAY_MS);
    await answer('x = 1');
    expect(shown).toHaveLength(1);
    type();
    expect(shown).toEqual([]);
  });

  it('shows nothing where nothing is suggested', async () => {
    const { suggester, shown, answer } = bench();
    suggester.ran('one');
    jest.advanceTimersByTime(DELAY_MS);
    await answer(' \n');
    expect(shown).toEqual([]);
  });
});
