import { QualityIssue } from '../../api/types';

/** How grave an issue is. */
export type Severity = QualityIssue['severity'];

/** Issues of one severity. */
export interface IIssueGroup {
  severity: Severity;
  /** "2 errors" */
  title: string;
  issues: readonly QualityIssue[];
}

const ORDER: readonly [Severity, string, string][] = [
  ['error', 'error', 'errors'],
  ['warning', 'warning', 'warnings'],
  ['info', 'remark', 'remarks']
];

/** The issues by severity, the gravest first, in the order of the cells. */
export function groupIssues(issues: readonly QualityIssue[]): IIssueGroup[] {
  return ORDER.map(([severity, one, many]) => {
    const of = issues
      .filter(issue => issue.severity === severity)
      .sort((a, b) => (a.index ?? -1) - (b.index ?? -1));
    const title = `${of.length} ${of.length === 1 ? one : many}`;
    return { severity, title, issues: of };
  }).filter(group => group.issues.length > 0);
}

/** A score in a word, so that it is not lines by the bar alone. */
export function scoreLabel(score: number): string {
  if (score >= 90) {
    return 'Very good';
  }
  if (score >= 75) {
    return 'Good';
  }
  return score >= 50 ? 'Could be better' : 'Needs work';
}

/** What the agent is asked, to improve a notebook; the gravest issues first. */
export function improvementRequest(issues: readonly QualityIssue[]): string {
  const lines = groupIssues(issues)
    .flatMap(group => group.issues)
    .slice(0, 8)
    .map(({ message, index }) =>
      index === undefined ? `- ${message}` : `- Cell ${index + 1}: ${message}`
    );
  return lines.length
    ? `Improve the quality of this notebook:\n${lines.join('\n')}`
    : 'Improve the quality of this notebook';
}
