import { Following } from '../following';

function notebook(inView: string[] = []) {
  const scroller = document.createElement('div');
  return { scroller, isInView: (id: string) => inView.includes(id) };
}

describe('following', () => {
  it('ends when the user scrolls, until they are back or another turn begins', () => {
    const following = new Following();
    const inView: string[] = [];
    const shown = notebook(inView);
    following.watch(shown.scroller);
    shown.scroller.dispatchEvent(new Event('wheel'));
    const start = Date.now() + 1;
    // Scrolled before the turn began.
    expect(following.may(shown, 'a', start)).toBe(true);
    jest.spyOn(Date, 'now').mockReturnValue(start + 5);
    shown.scroller.dispatchEvent(new Event('wheel'));
    expect(following.may(shown, 'b', start)).toBe(false);
    inView.push('a');
    expect(following.may(shown, 'c', start)).toBe(true);
    inView.pop();
    shown.scroller.dispatchEvent(new Event('wheel'));
    expect(following.may(shown, 'd', start)).toBe(false);
    expect(following.may(shown, 'e', start + 10)).toBe(true);
  });

  it('takes a click into a cell for no scrolling, and heeds the switch', () => {
    const following = new Following();
    const shown = notebook();
    const cell = document.createElement('div');
    shown.scroller.append(cell);
    following.watch(shown.scroller);
    cell.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    expect(following.may(shown, 'a', 0)).toBe(true);
    shown.scroller.dispatchEvent(new Event('pointerdown'));
    expect(following.may(shown, 'b', 0)).toBe(false);
    following.isOn.set(false);
    expect(following.may(notebook(), 'a', 0)).toBe(false);
  });
});
