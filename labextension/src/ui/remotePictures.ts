const WEB = /^(https?:)?\/\//i;

/** The host of an address of the web, as the browser reads it; null of any other address. */
export function hostOf(address: string): string | null {
  if (!WEB.test(address)) {
    return null;
  }
  try {
    return new URL(address, 'https://x').host || null;
  } catch {
    return null;
  }
}

/**
 * What stands for a picture of another server: a request for it says what its address says, so it is
 * made when the user asks for it. Null where the address is none of the web.
 */
export function remotePicture(
  owner: Document,
  address: string,
  alt: string
): HTMLElement | null {
  const host = hostOf(address);
  if (!host) {
    return null;
  }
  const button = owner.createElement('button');
  button.type = 'button';
  button.className = 'da-remote-picture';
  button.dataset.daPicture = address;
  button.dataset.daAlt = alt;
  button.title = address;
  button.textContent = `Load the picture${alt ? ` “${alt}”` : ''} from ${host}`;
  return button;
}

/** Load a picture whose button was clicked; false where something else was. */
export function loadPicture(target: EventTarget | null): boolean {
  const button =
    target instanceof Element
      ? target.closest<HTMLElement>('.da-remote-picture')
      : null;
  const address = button?.dataset.daPicture;
  if (!button || !address) {
    return false;
  }
  const image = document.createElement('img');
  image.referrerPolicy = 'no-referrer';
  image.alt = button.dataset.daAlt ?? '';
  image.src = address;
  button.replaceWith(image);
  return true;
}
