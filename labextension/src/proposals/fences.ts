/** What a proposal is for: a cell's new source, a new cell by one, or a file's new text. */
export type ProposalTarget =
  | { kind: 'cell'; cellId: string }
  | { kind: 'after'; cellId: string }
  | { kind: 'before'; cellId: string }
  | { kind: 'file'; path: string };

/** A fenced block of Markdown. */
export interface IFencedBlock {
  /** The first word of the info string, such as `python`; empty where there is none. */
  language: string;
  /** What the info string names; null where it names nothing. */
  target: ProposalTarget | null;
  /** What is in it, without the line break before the closing fence. */
  source: string;
  /** Whether the closing fence has come. */
  isComplete: boolean;
}

/** A block whose closing fence has not come yet. */
export interface IOpenBlock {
  head: string;
  indent: number;
  fence: string;
  language: string;
  target: ProposalTarget | null;
  lines: string[];
}

/** Models, and servers before them, end lines in several ways. */
export const LINE_END = /\r\n?|\n/;

const FENCE = /^( {0,3})(`{3,}(?!`)|~{3,}(?!~))(.*)$/;
const PYTHON = ['python', 'python3', 'ipython', 'ipython3'];
const TARGET =
  /(?:^|[\s{,])(cell|after|file)\s*[=:]\s*(?:"([^"]*)"|'([^']*)'|([^\s},]+))/i;

/** The block that a line opens; null for any other line. */
export function openedBy(line: string): IOpenBlock | null {
  const fence = FENCE.exec(line);
  if (!fence || (fence[2][0] === '`' && fence[3].includes('`'))) {
    return null;
  }
  const info = fence[3].trim();
  // `{r}` and `{.python}`, as in documents of R Markdown and Pandoc.
  const first = info.replace(/^\{\.?/, '').split(/[\s{},]/)[0];
  return {
    head: line,
    indent: fence[1].length,
    fence: fence[2],
    language: /[=:]/.test(first) ? '' : first,
    target: targetOf(info),
    lines: []
  };
}

/** Whether a line closes a block with this fence. */
export function closes(fence: string, line: string): boolean {
  const text = line.trim();
  return (
    text.length >= fence.length &&
    text === fence[0].repeat(text.length) &&
    !/^ {4}/.test(line)
  );
}

/** What is in a block: indented no further than its fence, and of code the code alone. */
export function sourceOf(block: IOpenBlock): string {
  const outdent = new RegExp(`^ {0,${block.indent}}`);
  const lines = block.lines.map(line => line.replace(outdent, ''));
  return plainCode(lines.join('\n'), block.language);
}

/**
 * What is in a block of a language, without what models repeat of its fence: the same fence again,
 * and a line that only names Python above other code. The server does the same (`code_text.py`).
 */
export function plainCode(text: string, language: string): string {
  const [first, ...rest] = text.split('\n');
  const again = language && rest.length ? openedBy(first) : null;
  if (again && !again.target && ['', language].includes(again.language)) {
    const isClosed = closes(again.fence, rest[rest.length - 1]);
    return rest.slice(0, isClosed ? -1 : undefined).join('\n');
  }
  const isNamed =
    ['', ...PYTHON].includes(language.toLowerCase()) &&
    PYTHON.includes(first.trim().toLowerCase()) &&
    rest.some(line => /^\s*[^\s#]/.test(line));
  return isNamed ? rest.join('\n') : text;
}

/** The fenced blocks of a text that will not grow any more, in its order. */
export function fencedBlocks(text: string): IFencedBlock[] {
  const blocks: IFencedBlock[] = [];
  let open: IOpenBlock | null = null;
  const finish = (block: IOpenBlock, isComplete: boolean) => {
    const { language, target } = block;
    blocks.push({ language, target, source: sourceOf(block), isComplete });
  };
  for (const line of text.split(LINE_END)) {
    if (!open) {
      open = openedBy(line);
    } else if (closes(open.fence, line)) {
      finish(open, true);
      open = null;
    } else {
      open.lines.push(line);
    }
  }
  if (open) {
    finish(open, false);
  }
  return blocks;
}

/** Code as a fenced block, whatever fences there are in it. */
export function fenced(code: { language: string; source: string }): string {
  const longest = Math.max(
    2,
    ...[...code.source.matchAll(/`{3,}/g)].map(([fence]) => fence.length)
  );
  const fence = '`'.repeat(longest + 1);
  return `${fence}${code.language}\n${code.source}\n${fence}`;
}

/** The same text, of whose info strings only the language is left: a renderer knows no more. */
export function withoutTags(text: string): string {
  let open: IOpenBlock | null = null;
  return text
    .split(LINE_END)
    .map(line => {
      if (open) {
        open = closes(open.fence, line) ? null : open;
        return line;
      }
      open = openedBy(line);
      return open?.target
        ? `${' '.repeat(open.indent)}${open.fence}${open.language}`
        : line;
    })
    .join('\n');
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

/** Whether what is in a block is prose. */
export function isMarkdown({ language }: { language: string }): boolean {
  return ['markdown', 'md'].includes(language.toLowerCase());
}
