/** Give an element these children; those that stay are not moved, so that focus and scroll stay. */
export function replaceChildren(
  parent: HTMLElement,
  wanted: HTMLElement[]
): void {
  const kept = new Set<Element>(wanted);
  for (const child of [...parent.children]) {
    if (!kept.has(child)) {
      child.remove();
    }
  }
  wanted.forEach((element, index) => {
    if (parent.children[index] !== element) {
      parent.insertBefore(element, parent.children[index] ?? null);
    }
  });
}

/** A button that its label names; the title says more. */
export function button(
  label: string,
  title: string,
  act: () => unknown
): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = 'da-lex-button';
  element.textContent = label;
  element.title = title;
  element.addEventListener('click', () => void act());
  return element;
}

/** A button of a block or of the document, of which there are many with the same label. */
export function namedButton(
  label: string,
  title: string,
  act: () => unknown
): HTMLButtonElement {
  const element = button(label, title, act);
  element.setAttribute('aria-label', title);
  return element;
}
