import { LINE_END, closes as isClosedBy, openedBy } from '../proposals/fences';

/**
 * The blocks of a growing Markdown text: those that are finished never change again, so that each
 * is rendered once, and only the last one is rendered as it grows.
 */
export interface IBlocks {
  /** Finished blocks, in order. */
  readonly done: readonly string[];
  /** Where the unfinished part begins. */
  readonly offset: number;
  /** The text that the blocks were made of. */
  readonly text: string;
}

/**
 * Characters of a text that are drawn as Markdown. The renderer takes time in the square of some
 * texts' length: a megabyte of `<` stopped the tab for eight seconds.
 */
export const MOST_MARKDOWN = 20_000;

/** What of a text is drawn as Markdown: all of it, or its first lines. */
export function beginning(text: string): string {
  if (text.length <= MOST_MARKDOWN) {
    return text;
  }
  const end = text.lastIndexOf('\n', MOST_MARKDOWN) + 1;
  return text.slice(0, end > MOST_MARKDOWN / 2 ? end : MOST_MARKDOWN);
}

/** Marks of emphasis and of links that a block is drawn with. */
const MOST_MARKS = 350;

/** Such a mark. An underscore inside a word is none: names of columns have many. */
const MARK = /[*~[]|(?<!\w)_|_(?!\w)/g;

/** No name is longer. In such a word, underscores take the renderer time as marks do. */
const LONGEST_NAME = 500;

function marksIn(line: string): number {
  const words =
    line.length > LONGEST_NAME
      ? line.split(/\W/).filter(word => word.length > LONGEST_NAME)
      : [];
  const inWords = words.map(word => word.split('_').length - 1);
  return inWords.reduce(
    (sum, count) => sum + count,
    line.match(MARK)?.length ?? 0
  );
}

/** Characters before a line's text that a block is drawn with: marks of lists and quotes. */
const LONGEST_LEAD = 300;

/**
 * Whether a block is drawn in time. For a mark of emphasis that nothing closes, and for lists and
 * quotes in each other, the renderer goes through what follows again: 20,000 characters of `*a `
 * took it 12 s and more. Code in a fence is not read for marks.
 */
export function isSimple(block: string): boolean {
  let marks = 0;
  let fence: string | null = null;
  for (const line of block.split(LINE_END)) {
    const text = line.trim();
    if (fence) {
      fence = isClosedBy(fence, text) ? null : fence;
      continue;
    }
    fence = openedBy(line)?.fence ?? null;
    marks += fence ? 0 : marksIn(line);
    const lead = /^[\s>*+\-\d.)]*/.exec(line)![0];
    if (marks > MOST_MARKS || lead.length > LONGEST_LEAD) {
      return false;
    }
  }
  return true;
}

/** The blocks of no text. */
export const NO_BLOCKS: IBlocks = { done: [], offset: 0, text: '' };

/** What is open at a line's end, so that a blank line after it ends no block. */
type Open =
  | { kind: 'fence'; fence: string; nested: boolean }
  | { kind: 'math' }
  | { kind: 'html'; tag: string }
  | null;

const HTML = /^ {0,3}<([a-z][a-z0-9-]*)(?=[\s/>])[^>]*>/i;
const VOID_TAGS = new Set(['br', 'hr', 'img', 'input', 'wbr']);
const ITEM = /^ {0,3}([-*+]|\d{1,9}[.)])(\s|$)/;
const PART_OF_MARKER = /^([-*+]|\d{1,9}[.)]?)$/;
const DEFINITION = /^ {0,3}\[[^[\]]+\]:\s/m;

/**
 * The blocks after the text has grown. Where `text` does not continue what `earlier` was made of,
 * all is split anew.
 */
export function growBlocks(earlier: IBlocks, text: string): IBlocks {
  const start = text.startsWith(earlier.text) ? earlier : NO_BLOCKS;
  const done = start.done.slice();
  const offset = scan(text, start.offset, block => done.push(block));
  return {
    done: done.length === start.done.length ? start.done : done,
    offset,
    text
  };
}

/** The part that is not finished yet. */
export function tailOf(blocks: IBlocks): string {
  return blocks.text.slice(blocks.offset);
}

/**
 * The blocks of a text that will not grow any more. Where it defines link references, which may
 * be used in any block, it is one.
 */
export function allBlocks(text: string): string[] {
  if (DEFINITION.test(text)) {
    return [text];
  }
  const blocks = growBlocks(NO_BLOCKS, text);
  const tail = tailOf(blocks);
  return tail.trim() ? [...blocks.done, tail] : [...blocks.done];
}

/** A code fence that is not closed yet: its language and the code so far. */
export function openFence(
  tail: string
): { language: string; code: string } | null {
  const [head, ...lines] = tail.split('\n');
  const open = openedBy(head);
  return !open || lines.some(line => isClosedBy(open.fence, line))
    ? null
    : { language: open.language, code: lines.join('\n') };
}

/** Report the finished blocks from `offset` on; returns where the unfinished part begins. */
function scan(
  text: string,
  offset: number,
  report: (block: string) => void
): number {
  let begin = offset;
  let open: Open = null;
  let blank = false;
  let inList = false;
  let position = offset;
  const finish = (end: number) => {
    const block = text.slice(begin, end);
    if (block.trim()) {
      report(block);
    }
    begin = end;
  };
  while (position < text.length) {
    const newline = text.indexOf('\n', position);
    const isWhole = newline >= 0;
    const next = isWhole ? newline + 1 : text.length;
    const line = text.slice(position, isWhole ? newline : next);
    if (open) {
      const endsBlock = open.kind === 'fence' && !open.nested;
      open = closes(open, line) && isWhole ? null : open;
      if (!open && endsBlock) {
        finish(next);
        blank = false;
      }
    } else if (!line.trim()) {
      blank = isWhole;
    } else {
      // Of a line that is not whole yet, nothing is decided that its rest could change.
      const starts = isWhole ? opening(line) : null;
      const continues =
        /^\s/.test(line) ||
        (inList && ITEM.test(line)) ||
        (!isWhole && PART_OF_MARKER.test(line));
      // A fence begins a block of its own, unless it is in a list; any other block needs a blank
      // line before it.
      const isFence = starts?.kind === 'fence' && !starts.nested;
      if (position > begin && (isFence || (blank && !continues))) {
        finish(position);
      }
      inList = position === begin ? ITEM.test(line) : inList;
      blank = false;
      open = starts;
    }
    position = next;
  }
  return begin;
}

/** What a line opens and does not close. */
function opening(line: string): Open {
  const block = openedBy(line);
  if (block) {
    return { kind: 'fence', fence: block.fence, nested: block.indent > 0 };
  }
  if (/^\s*\$\$/.test(line) && line.split('$$').length % 2 === 0) {
    return { kind: 'math' };
  }
  const html = HTML.exec(line);
  if (html && !VOID_TAGS.has(html[1].toLowerCase()) && !/\/>\s*$/.test(line)) {
    const open: Open = { kind: 'html', tag: html[1].toLowerCase() };
    return closes(open, line) ? null : open;
  }
  return null;
}

function closes(open: NonNullable<Open>, line: string): boolean {
  switch (open.kind) {
    case 'fence':
      // In a list, a fence may be indented as far as its item.
      return isClosedBy(open.fence, open.nested ? line.trim() : line);
    case 'math':
      return line.includes('$$');
    case 'html':
      return line.toLowerCase().includes(`</${open.tag}>`);
  }
}
