import { IBlock } from './document';
import { ShownBlock } from './shownBlock';

/**
 * What is shown now, made of what was shown before: a block that is the same keeps its elements.
 * `edited` has an editor with what the user types, which stays: in place of what its block has
 * become, or where it was. `become` is what it has become, null where it is gone. What was saved from
 * an editor may be several blocks, of which the first takes the place of the block.
 */
export function blocksShown(
  before: readonly ShownBlock[],
  blocks: readonly IBlock[],
  edited: ShownBlock | null,
  create: (block: IBlock) => ShownBlock,
  isSaved = false
): { shown: ShownBlock[]; become: IBlock | null } {
  const known = new Map<string, ShownBlock[]>();
  for (const each of before) {
    const { key } = each.block;
    known.set(key, [...(known.get(key) ?? []), each]);
  }
  const kept = new Set<ShownBlock>();
  const shown = blocks.map(block => {
    const same = known.get(block.key)?.shift();
    if (same) {
      same.update(block);
      kept.add(same);
    }
    return same ?? create(block);
  });
  let become: IBlock | null = edited?.block ?? null;
  if (edited && !kept.has(edited)) {
    become = placeEdited(before, shown, kept, edited, isSaved);
    kept.add(edited);
  }
  before.filter(each => !kept.has(each)).forEach(each => each.dispose());
  return { shown, become };
}

/** Put the block that is edited between those that were around it. */
function placeEdited(
  before: readonly ShownBlock[],
  shown: ShownBlock[],
  kept: ReadonlySet<ShownBlock>,
  edited: ShownBlock,
  isSaved: boolean
): IBlock | null {
  const at = before.indexOf(edited);
  const previous = before.slice(0, at).reverse();
  const from = shown.indexOf(previous.find(each => kept.has(each))!) + 1;
  const next = before.slice(at + 1).find(each => kept.has(each));
  const to = Math.max(from, next ? shown.indexOf(next) : shown.length);
  const fresh = shown.slice(from, to).filter(each => !kept.has(each));
  const { type } = edited.block.node;
  const alike = fresh.find(each => each.block.node.type === type);
  const heir = (!isSaved && alike) || fresh[0];
  if (!heir) {
    shown.splice(from, 0, edited);
    return null;
  }
  const { block } = heir;
  shown[shown.indexOf(heir)] = edited;
  heir.dispose();
  edited.update(block);
  return block;
}
