/** What a proposal is for: a cell's new source, a new cell behind one, or a file's new text. */
export type ProposalTarget =
  | { kind: 'cell'; cellId: string }
  | { kind: 'after'; cellId: string }
  | { kind: 'file'; path: string };

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

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const TARGET =
  /(?:^|[\s{,])(cell|after|file)\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([^\s},]+))/i;

/**
 * Take an answer apart, whole or as far as it has come. `isOver`: no more will come, so that a
 * block without its closing fence stays incomplete for good.
 *
 * What may still become a fence (the last line, while it is not whole) is held back from the prose.
 */
export function parseAnswer(text: string, isOver = false): IParsedAnswer {
  const prose: string[] = [];
  const found: IProposal[] = [];
  const lines = text.split('\n');
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
    const fence = FENCE.exec(line);
    if (!fence || (fence[2][0] === '`' && fence[3].includes('`'))) {
      if (isWhole || !/^\s{0,3}[`~]/.test(line)) {
        prose.push(line);
      }
    } else if (isWhole) {
      open = opened(line, fence);
    }
  }
  if (open) {
    finish(open, found, prose, null, false);
  }
  return { prose: prose.join('\n').trim(), proposals: newest(found) };
}

interface IOpenBlock {
  head: string;
  indent: number;
  fence: string;
  language: string;
  target: ProposalTarget | null;
  lines: string[];
}

function opened(line: string, fence: RegExpExecArray): IOpenBlock {
  const info = fence[3].trim();
  const first = info.split(/[\s{]/)[0];
  return {
    head: line,
    indent: fence[1].length,
    fence: fence[2],
    language: /[=:]/.test(first) ? '' : first,
    target: targetOf(info),
    lines: []
  };
}

/** What the info string of a fence names, if it names something. */
function targetOf(info: string): ProposalTarget | null {
  const match = TARGET.exec(info);
  if (!match) {
    return null;
  }
  const value = (match[2] ?? match[3] ?? match[4]).replace(/^<(.*)>$/, '$1');
  switch (match[1].toLowerCase()) {
    case 'cell':
      return { kind: 'cell', cellId: value };
    case 'after':
      return { kind: 'after', cellId: value };
    default:
      return { kind: 'file', path: value };
  }
}

function closes(fence: string, line: string): boolean {
  const text = line.trim();
  return (
    text.length >= fence.length &&
    text === fence[0].repeat(text.length) &&
    !/^ {4}/.test(line)
  );
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
  const { target, language, indent, head, lines } = block;
  if (!target) {
    prose.push(head, ...lines, ...(closing === null ? [] : [closing]));
    return;
  }
  const outdent = new RegExp(`^ {0,${indent}}`);
  const source = lines.map(line => line.replace(outdent, '')).join('\n');
  found.push({ target, language, source, isComplete });
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
