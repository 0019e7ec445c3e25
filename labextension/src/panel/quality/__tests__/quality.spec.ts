import { groupIssues, improvementRequest, scoreLabel } from '../quality';

const ISSUES = [
  { severity: 'info' as const, rule: 'a', message: 'No title.' },
  { severity: 'error' as const, rule: 'b', message: 'It failed.', index: 4 },
  { severity: 'warning' as const, rule: 'c', message: 'Unused.', index: 2 },
  { severity: 'error' as const, rule: 'b', message: 'Undefined.', index: 1 }
];

describe('a quality report', () => {
  it('has the gravest issues first, in the order of the cells', () => {
    const groups = groupIssues(ISSUES);
    expect(groups.map(({ title }) => title)).toEqual([
      '2 errors',
      '1 warning',
      '1 remark'
    ]);
    expect(groups[0].issues.map(({ index }) => index)).toEqual([1, 4]);
  });

  it('names its score too', () => {
    expect([100, 80, 60, 0].map(scoreLabel)).toEqual([
      'Very good',
      'Good',
      'Could be better',
      'Needs work'
    ]);
  });

  it('becomes a task with cells by their numbers', () => {
    expect(improvementRequest(ISSUES).split('\n').slice(1)).toEqual([
      '- Cell 2: Undefined.',
      '- Cell 5: It failed.',
      '- Cell 3: Unused.',
      '- No title.'
    ]);
  });
});
