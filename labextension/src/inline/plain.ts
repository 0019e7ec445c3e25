import { isQuestion } from '../proposals/aboutNotebook';
import {
  fencedBlocks,
  IFencedBlock,
  IProposal,
  languageName,
  magicOf,
  openedBy,
  ProposalTarget
} from '../proposals';

/** The text that an inline chat is on. */
export interface ISubject {
  target: ProposalTarget;
  /** What it is called to users: "cell", "file". */
  name: string;
  type: 'code' | 'markdown' | 'raw';
  /** The language of the notebook, or of the file; empty where it is not known. */
  language: string;
  /** The text when it was asked about. */
  base: string;
  /** From where to where it was selected then, in UTF-16 units of `base`; null for nothing. */
  selection: readonly [number, number] | null;
}

/** Asks to be shown something, which is for no place. */
const EXAMPLE =
  /^\W*(please\s+)?((show|give|tell)\s+(me|us)\s+)?((an?|some|another|one|two|more)\s+)*(\w+\s+)?examples?\b|(?<!\p{L})(beispiel|exemple|ejemplo|esempio|exemplo)\p{L}*(?!\p{L})/iu;

/** Lines that represent lines of the old text: `...`, `# ... rest of the code ...`. */
const LEFT_OUT: readonly RegExp[] = [
  /^[ \t]*(\.{3}|…)[ \t]*$/m,
  /^[ \t]*(#|\/\/|--|%|<!--|\/\*)\s*(\.{3}|…)/m,
  /^[ \t]*(#|\/\/|--|%|<!--|\/\*)\s*(the\s+)?(rest|remainder|remaining|existing|previous)\b.*\b(code|cell|lines?|unchanged|same|here)\b/im
];

/**
 * The proposal that an answer is where it names no target, as weaker models answer.
 *
 * Only where a change was asked for, and the whole answer is one whole block in the language of the
 * cell or the file, with nothing around it and nothing left out of it: any other block may be an
 * example. Null for such.
 */
export function plainProposal(
  answer: string,
  message: string,
  subject: ISubject
): IProposal | null {
  const text = answer.trim();
  const [block, ...others] = fencedBlocks(text);
  if (
    !block ||
    others.length ||
    block.target ||
    !isAlone(text) ||
    !asksForChange(message) ||
    whyNot(block, subject) !== null ||
    leavesOut(block.source, subject.base)
  ) {
    return null;
  }
  return proposalOf(block, subject);
}

/** Whether a message asks for a change, and not for an explanation. */
export function asksForChange(message: string): boolean {
  return !isQuestion(message) && !EXAMPLE.test(message);
}

function leavesOut(source: string, base: string): boolean {
  return (
    base.trim() !== '' &&
    LEFT_OUT.some(each => each.test(source) && !each.test(base))
  );
}

/** Why a block cannot be put in place of what the chat is on; null where it can. */
export function whyNot(block: IFencedBlock, subject: ISubject): string | null {
  if (!block.isComplete) {
    return 'The answer was cut off here.';
  }
  const language = languageOf(subject);
  const other = languageName(block.language);
  const isOf =
    !other ||
    !language ||
    other === language ||
    // A cell with a magic, written anew as one.
    (hasMagics(subject) &&
      /^\s*%%/.test(block.source) &&
      other === languageName(subject.language));
  return isOf
    ? null
    : `This block is ${other}, the ${subject.name} is ${language}.`;
}

/** What a block makes of the text that a chat is on: of its selection, where there was one. */
export function proposalOf(
  { language, source, isComplete }: IFencedBlock,
  subject: ISubject
): IProposal {
  const { target, base, selection } = subject;
  const [from, to] = selection ?? [0, base.length];
  const isPart =
    (base.slice(0, from) + base.slice(to)).trim() !== '' &&
    !isWhole(source, base, from, to);
  return {
    target,
    language,
    source: isPart
      ? spliced(base, from, to, source)
      : underMagic(source, subject),
    isComplete
  };
}

/** The language of the text itself. */
function languageOf(subject: ISubject): string {
  const { type, language, base } = subject;
  if (type !== 'code') {
    return type === 'markdown' ? 'markdown' : 'text';
  }
  const magic = hasMagics(subject) ? magicOf(base) : null;
  return magic?.language ?? languageName(language);
}

function hasMagics({ type, target }: ISubject): boolean {
  return type === 'code' && target.kind !== 'file';
}

/** Whether a text is one fence from its first line to its last. */
function isAlone(text: string): boolean {
  const lines = text.split('\n');
  return !!openedBy(lines[0]) && !!openedBy(lines[lines.length - 1]);
}

/** The line that gives a cell its language stays, where only what is under it was written anew. */
function underMagic(source: string, subject: ISubject): string {
  const magic = hasMagics(subject) ? magicOf(subject.base) : null;
  return magic && !/^\s*%%/.test(source) ? `${magic.line}\n${source}` : source;
}

/** Whether what was written for a selection is all of the text: what is around it is there too. */
function isWhole(
  source: string,
  base: string,
  from: number,
  to: number
): boolean {
  const lines = source.split('\n').map(line => line.trim());
  const around = [base.slice(0, from), base.slice(to)].map(part =>
    part.split('\n').map(line => line.trim())
  );
  // Of lines that are selected in part, the beginning and the end.
  const [head, tail] = [around[0].pop() ?? '', around[1].shift() ?? ''];
  const wanted: ((line: string) => boolean)[] = [
    ...around[0].filter(Boolean).map(text => (line: string) => line === text),
    ...(head ? [(line: string) => line.startsWith(head)] : [])
  ];
  const after: ((line: string) => boolean)[] = [
    ...(tail ? [(line: string) => line.endsWith(tail)] : []),
    ...around[1].filter(Boolean).map(text => (line: string) => line === text)
  ];
  let at = 0;
  for (const isIt of [...wanted, ...after]) {
    while (at < lines.length && !isIt(lines[at])) {
      at++;
    }
    if (at === lines.length) {
      return false;
    }
    // A line can be the rest of two.
    at += isIt === wanted[wanted.length - 1] && head && tail ? 0 : 1;
  }
  return true;
}

/** A text with another one in place of a part, indented as that was. */
function spliced(
  base: string,
  from: number,
  to: number,
  source: string
): string {
  const line = base.lastIndexOf('\n', from - 1) + 1;
  const start = base.slice(line, from).trim() ? from : line;
  const old = base.slice(start, to);
  const missing = indentOf(old).slice(indentOf(source).length);
  const lines = source.split('\n');
  const written =
    start === line
      ? lines.map(each => (each.trim() ? missing + each : each))
      : lines;
  const end = old.endsWith('\n') && !source.endsWith('\n') ? '\n' : '';
  return base.slice(0, start) + written.join('\n') + end + base.slice(to);
}

/** What all lines of a text are indented by. */
function indentOf(text: string): string {
  const indents = text
    .split('\n')
    .filter(line => line.trim())
    .map(line => /^[ \t]*/.exec(line)![0]);
  return indents.reduce(
    (least, each) => (each.length < least.length ? each : least),
    indents[0] ?? ''
  );
}
