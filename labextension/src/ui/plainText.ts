import { IMarkedPart } from './marks';

/** What marks up a text, from and to where it is. */
type Span = readonly [start: number, end: number];

/** Code, whose content is taken as it is: a block, of which an end may be missing, or a span. */
const CODE = /(`{3,}|~{3,})([\w+#-]*(?: cell=\S+)?(?= |$))?|(`+)/g;

/** Each marks up with its first and its last group, and leaves what is between them. */
const PAIRS = [
  /(!?\[)[^[\]]*(\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?: "[^"]*")?(?:\)|…?$)|\[[^[\]]*\]))/g,
  /(\*\*|__)(?=\S)(?:(?!\1).)*?\S(\1)/g,
  /(~~)(?=\S)(?:(?!~~).)*?\S(~~)/g,
  /(?<![\w*])(\*)(?=[^\s*])[^*]*?[^\s*](\*)(?![\w*])/g,
  /(?<![\w*])(\*)[^\s*](\*)(?![\w*])/g,
  /(?<!\w)(_)(?=[^\s_])[^_]*?[^\s_](_)(?!\w)/g
];

/** Marks of a heading, and a strong word whose other end was cut off. */
const ALONE =
  /(?<![^\s…])#{1,6} (?=\S)|(?<![^\s…])\*\*(?=\S)|(?<=\S)\*\*(?![^\s….,;:!?)])/g;

/**
 * A line of Markdown, in pieces of which some are marked, as plain text: without the characters
 * that mark it up, and links as their words. What is marked stays as it is.
 */
export function withoutMarkup(pieces: readonly IMarkedPart[]): IMarkedPart[] {
  const text = pieces.map(piece => piece.text).join('');
  const spans = markupOf(text);
  const plain: IMarkedPart[] = [];
  let at = 0;
  for (const { text: part, isMarked } of pieces) {
    const end = at + part.length;
    const left = isMarked ? part : cut(text, at, end, spans);
    if (left) {
      plain.push({ text: left, isMarked });
    }
    at = end;
  }
  return plain;
}

function cut(
  text: string,
  start: number,
  end: number,
  spans: readonly Span[]
): string {
  let left = '';
  let at = start;
  for (const [from, to] of spans) {
    if (to > at && from < end) {
      left += text.slice(at, Math.max(at, from));
      at = Math.min(to, end);
    }
  }
  return left + text.slice(at, end);
}

/** What marks up a text, in order. */
function markupOf(text: string): Span[] {
  const { spans, masked } = withoutCode(text);
  for (const pattern of PAIRS) {
    for (const { index, 0: whole, 1: before, 2: after } of masked.matchAll(
      pattern
    )) {
      const end = index + whole.length;
      spans.push([index, index + before.length], [end - after.length, end]);
    }
  }
  for (const { index, 0: whole } of masked.matchAll(ALONE)) {
    spans.push([index, index + whole.length]);
  }
  return spans.sort(([a], [b]) => a - b);
}

/** The marks of code, and the text with letters in the place of code and of its marks. */
function withoutCode(text: string): { spans: Span[]; masked: string } {
  const spans: Span[] = [];
  let masked = '';
  let at = 0;
  const codeUntil = (end: number, from = at) => {
    masked += text.slice(at, from) + 'x'.repeat(end - from);
    at = end;
  };
  CODE.lastIndex = 0;
  for (let open = CODE.exec(text); open; open = CODE.exec(text)) {
    const { index } = open;
    const fence = open[1] ?? open[3];
    const close = closing(text, fence, CODE.lastIndex);
    if (close !== null) {
      spans.push([index, CODE.lastIndex], [close, close + fence.length]);
      codeUntil(close + fence.length, index);
    } else if (!at && text.startsWith('…')) {
      // The beginning of the code was cut off.
      spans.push([index, index + fence.length]);
      codeUntil(index + fence.length);
    } else {
      spans.push([index, CODE.lastIndex]);
      codeUntil(text.endsWith('…') ? text.length : CODE.lastIndex, index);
    }
    CODE.lastIndex = at;
  }
  return { spans, masked: masked + text.slice(at) };
}

/** Where code ends that begins with these marks; null where it does not. */
function closing(text: string, fence: string, from: number): number | null {
  const [mark] = fence;
  const same = new RegExp(`(?<!${mark})${fence}(?!${mark})`, 'g');
  same.lastIndex = from;
  return same.exec(text)?.index ?? null;
}
