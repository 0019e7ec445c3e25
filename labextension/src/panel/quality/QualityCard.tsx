import { PathExt } from '@jupyterlab/coreutils';
import {
  LabIcon,
  errorIcon,
  infoIcon,
  refreshIcon
} from '@jupyterlab/ui-components';
import React from 'react';

import { QualityIssue, QualityReport } from '../../api/types';
import { warningIcon } from '../../ui/icons';
import {
  Severity,
  groupIssues,
  improvementRequest,
  scoreLabel
} from './quality';
import { useValue } from '../../session/observable';
import { CardFrame } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';
import { IconButton } from '../../ui/IconButton';
import { useReadiness } from '../conversation/Readiness';
import { useComposer } from '../composer/composerContext';
import { usePanel } from '../context';

const ICONS: Readonly<Record<Severity, LabIcon>> = {
  error: errorIcon,
  warning: warningIcon,
  info: infoIcon
};

/** The quality report of a notebook. */
export function QualityCard(): JSX.Element | null {
  const { quality } = usePanel().model.toolsPanel;
  const shown = useValue(quality.shown);
  if (!shown) {
    return null;
  }
  const { path, report, isLoading, problem } = shown;
  return (
    <CardFrame
      title={`Quality of ${PathExt.basename(path)}`}
      testId="da-quality"
      takesFocus
      actions={
        <IconButton
          icon={refreshIcon}
          label="Check again"
          disabled={isLoading}
          onClick={() => quality.refresh()}
        />
      }
    >
      <div className="da-hidden" role="status">
        {isLoading
          ? 'Checking'
          : report
            ? `The score is ${report.score} of 100.`
            : ''}
      </div>
      {isLoading && !report && <p>Checking the notebook</p>}
      {problem && (
        <Problem message={problem} onRetry={() => quality.refresh()} />
      )}
      {report && !problem && <Report path={path} report={report} />}
    </CardFrame>
  );
}

function Report(props: { path: string; report: QualityReport }): JSX.Element {
  const { path, report } = props;
  const groups = groupIssues(report.issues);
  return (
    <>
      <div className="da-score" data-level={levelOf(report.score)}>
        <span className="da-score-number">{report.score}</span>
        <span className="da-dim">of 100</span>
        <span className="da-score-label">{scoreLabel(report.score)}</span>
      </div>
      <div
        className="da-meter"
        data-level={levelOf(report.score)}
        role="meter"
        aria-label="Score"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={report.score}
      >
        <div style={{ width: `${report.score}%` }} />
      </div>
      {!groups.length && <p>No improvements found.</p>}
      {groups.map(({ severity, title, issues }) => (
        <section key={severity} className="da-issues">
          <h4>{title}</h4>
          <ul>
            {issues.map((issue, index) => (
              <Issue
                key={`${issue.rule}-${issue.cellId}-${index}`}
                path={path}
                issue={issue}
              />
            ))}
          </ul>
        </section>
      ))}
      {report.suggestions.length > 0 && (
        <section className="da-issues">
          <h4>Suggestions</h4>
          <ul className="da-bullets">
            {report.suggestions.map(text => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      {report.issues.length > 0 && (
        <Improve path={path} issues={report.issues} />
      )}
    </>
  );
}

/** An issue; where it is about a cell, a click goes there. */
function Issue(props: { path: string; issue: QualityIssue }): JSX.Element {
  const { path, issue } = props;
  const { editor } = usePanel().model;
  const { severity, message, cellId, index } = issue;
  const Icon = ICONS[severity].react;
  const label = (
    <>
      <Icon tag="span" className="da-status-icon" aria-hidden="true" />
      <span className="da-issue-label">
        <span className="da-hidden">{severity}: </span>
        {index !== undefined && (
          <span className="da-issue-cell">{`Cell ${index + 1}`}</span>
        )}
        {message}
      </span>
    </>
  );
  return (
    <li data-severity={severity}>
      {cellId ? (
        <button
          type="button"
          className="da-issue"
          title="Go to cell"
          onClick={() => void editor.reveal(path, cellId)}
        >
          {label}
        </button>
      ) : (
        <div className="da-issue">{label}</div>
      )}
    </li>
  );
}

/** With a model, the agent can do something about it; the user still sends the message. */
function Improve(props: {
  path: string;
  issues: readonly QualityIssue[];
}): JSX.Element | null {
  const { path, issues } = props;
  const { model } = usePanel();
  const composer = useComposer();
  const { isReady } = useReadiness();
  const models = useValue(model.models);
  if (!isReady || !models) {
    return null;
  }
  return (
    <div className="da-buttons">
      <button
        type="button"
        className="da-button"
        onClick={() => {
          model.composerState.attach({ kind: 'notebook', path });
          model.composerState.choose({ mode: 'agent' });
          composer.write(improvementRequest(issues));
        }}
      >
        Ask the agent to improve it
      </button>
    </div>
  );
}

function levelOf(score: number): 'good' | 'fair' | 'poor' {
  return score >= 75 ? 'good' : score >= 50 ? 'fair' : 'poor';
}
