/** The line under what is held back, with the button that shows it. */
export function heldNotice(
  held: string,
  show: (() => void) | null
): HTMLElement {
  const notice = document.createElement('div');
  notice.className = 'da-held';
  notice.dataset.testid = 'da-held';
  notice.setAttribute('role', 'note');
  const text = document.createElement('span');
  text.textContent = `Held back: ${held}.`;
  notice.append(text);
  if (show) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'da-held-show';
    button.dataset.testid = 'da-held-show';
    button.textContent = 'Show what the agent made in this document';
    button.title =
      'All that the agent’s code displays and its cells show here, now and later: it then acts in this page with your rights.';
    button.addEventListener('click', show);
    notice.append(button);
  }
  return notice;
}
