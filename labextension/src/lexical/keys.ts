import { ShownBlock } from './shownBlock';

/** The block to which a key leads from the one that has the keyboard; null for any other key. */
export function nextBlock(
  { key, altKey, ctrlKey, metaKey, shiftKey }: KeyboardEvent,
  shown: readonly ShownBlock[],
  from: ShownBlock
): ShownBlock | null {
  if (altKey || ctrlKey || metaKey || shiftKey) {
    return null;
  }
  const at = shown.indexOf(from);
  switch (key) {
    case 'ArrowDown':
    case 'j':
      return shown[at + 1] ?? from;
    case 'ArrowUp':
    case 'k':
      return shown[at - 1] ?? from;
    case 'Home':
      return shown[0];
    case 'End':
      return shown[shown.length - 1];
    default:
      return null;
  }
}
