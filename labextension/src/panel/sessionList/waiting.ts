const CARD = '.da-waiting, .da-waited-for, .da-plan[data-waiting="true"]';

/** How long what waits may take to be drawn, in ms. */
const TIMEOUT_MS = 3000;

/**
 * Bring what waits for the user in the panel into view, with the focus on its first button; false
 * where nothing waits.
 */
export function goToWaiting(panel: Element | null): boolean {
  const card = panel?.querySelector(CARD);
  card?.scrollIntoView({ block: 'center' });
  const button = card?.querySelector<HTMLElement>('.da-buttons button');
  button?.focus();
  return !!button;
}

/** The same as soon as it is drawn; true when it was. */
export async function goToWaitingSoon(panel: Element | null): Promise<boolean> {
  const until = performance.now() + TIMEOUT_MS;
  while (!goToWaiting(panel)) {
    if (performance.now() > until) {
      return false;
    }
    await new Promise(resolve => requestAnimationFrame(resolve));
  }
  return true;
}
