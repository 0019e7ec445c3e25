import { withAnswerLinks } from '../citations';

const PROVENANCE = {
  aiTurnId: 'turn_1',
  providerId: 'openai',
  responseType: 'batch' as const,
  responseIndex: 0
};
const SOURCES = [
  { number: 1, model: 'a', provenance: PROVENANCE, cited: true },
  {
    number: 2,
    answerId: 'answer_2',
    model: 'b',
    provenance: PROVENANCE,
    cited: true
  }
];

test.each([
  ['Blue [1].', 'Blue [\\[1\\]](#answer-own).'],
  ['[1][2]', '[\\[1\\]](#answer-own)[\\[2\\]](#answer-answer_2)'],
  ['`a[1]` and x[2] stay', '`a[1]` and x[2] stay'],
  ['```\nv = [1]\n```\n[2]', '```\nv = [1]\n```\n[\\[2\\]](#answer-answer_2)'],
  ['~~~\n[1] never closed', '~~~\n[1] never closed'],
  [
    'Both say so (twice)[1]. 答案一致[2]。',
    'Both say so (twice)[\\[1\\]](#answer-own). 答案一致[\\[2\\]](#answer-answer_2)。'
  ],
  [
    '\\[1] is no citation, and [2]é is one',
    '\\[1] is no citation, and [\\[2\\]](#answer-answer_2)é is one'
  ],
  ['[7] leads nowhere', '[7] leads nowhere'],
  ['[1](http://example.org)', '[1](http://example.org)']
])('%j', (text, linked) => {
  expect(withAnswerLinks(text, SOURCES)).toBe(linked);
});
