import { CitedAnswer } from '../../api/types';

const CODE = /(`{3,}|~{3,})[\s\S]*?(?:\1|$)|(`+)[^`][\s\S]*?\2/g;
const NUMBER = /(^|[^\w\\])\[(\d{1,2})\](?![\w(:])/g;

/** Where the own answer of a turn is cited, which has no id of its own. */
export const OWN_ANSWER = 'own';

/** The Markdown of a synthesis with its citations, "[1]", as links to the answers. */
export function withAnswerLinks(
  markdown: string,
  sources: readonly CitedAnswer[]
): string {
  let linked = '';
  let from = 0;
  for (const code of markdown.matchAll(CODE)) {
    linked += inProse(markdown.slice(from, code.index), sources) + code[0];
    from = code.index + code[0].length;
  }
  return linked + inProse(markdown.slice(from), sources);
}

function inProse(text: string, sources: readonly CitedAnswer[]): string {
  const link = (whole: string, before: string, number: string) => {
    const source = sources.find(each => each.number === Number(number));
    const id = source?.answerId ?? OWN_ANSWER;
    return source ? `${before}[\\[${number}\\]](#answer-${id})` : whole;
  };
  // Twice: of "[1][2]" the second begins where the first has ended.
  return text.replace(NUMBER, link).replace(NUMBER, link);
}
