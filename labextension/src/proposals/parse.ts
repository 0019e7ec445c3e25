import {
  closes,
  IOpenBlock,
  LINE_END,
  openedBy,
  ProposalTarget,
  sourceOf
} from './fences';

/** A fenced block of an answer whose info string names its target. */
export interface IProposal {
  target: ProposalTarget;
  /** The first word of the info string, such as `python`; empty where there is none. */
  language: string;
  /** The whole new source, without the line break before the closing fence. */
  source: string;
  /** Whether the closing fence has come. */
  isComplete: boolean;
}

/** An answer, taken apart. */
export interface IParsedAnswer {
  /** The Markdown around the proposals. */
  prose: string;
  /** In the order of the answer; a later one for the same cell or file replaces the earlier. */
  proposals: readonly IProposal[];
}

/**
 * Take an answer apart, whole or as far as it has come. `isOver`: no more will come, so that a
 * block without its closing fence stays incomplete for good.
 *
 * What may still become a fence (the last line, while it is not whole) is held back from the prose.
 */
export function parseAnswer(text: string, isOver = false): IParsedAnswer {
  const prose: string[] = [];
  const found: IProposal[] = [];
  const lines = text.split(LINE_END);
  let open: IOpenBlock | null = null;
  for (const [index, line] of lines.entries()) {
    const isWhole = isOver || index < lines.length - 1;
    if (open) {
      if (closes(open.fence, line)) {
        finish(open, found, prose, line, true);
        open = null;
      } else if (isWhole || !mayClose(open.fence, line)) {
        open.lines.push(line);
      }
      continue;
    }
    const opened = openedBy(line);
    if (!opened) {
      if (isWhole || !/^\s{0,3}[`~]/.test(line)) {
        prose.push(line);
      }
    } else if (isWhole) {
      open = opened;
    }
  }
  if (open) {
    finish(open, found, prose, null, false);
  }
  return { prose: prose.join('\n').trim(), proposals: newest(found) };
}

/** Whether the beginning of a line may become the closing fence. */
function mayClose(fence: string, line: string): boolean {
  const text = line.trim();
  return text === '' || text === fence[0].repeat(text.length);
}

/** A tagged block is a proposal; any other stays in the prose. */
function finish(
  block: IOpenBlock,
  found: IProposal[],
  prose: string[],
  closing: string | null,
  isComplete: boolean
): void {
  const { target, language, head, lines } = block;
  if (!target) {
    prose.push(head, ...lines, ...(closing === null ? [] : [closing]));
    return;
  }
  found.push({ target, language, source: sourceOf(block), isComplete });
}

/** Without those that a later one for the same cell or file replaces. */
function newest(found: IProposal[]): IProposal[] {
  return found.filter(
    ({ target }, index) =>
      target.kind === 'after' ||
      !found.slice(index + 1).some(later => isSame(later.target, target))
  );
}

function isSame(one: ProposalTarget, other: ProposalTarget): boolean {
  return one.kind === 'file'
    ? other.kind === 'file' && other.path === one.path
    : other.kind === one.kind && other.cellId === one.cellId;
}
