import { PathExt } from '@jupyterlab/coreutils';
import {
  caretLeftIcon,
  caretRightIcon,
  checkIcon,
  errorIcon
} from '@jupyterlab/ui-components';
import React from 'react';

import { Lesson, Tutorial } from '../../api/types';
import { progressOf } from './lessons';
import { useValue } from '../../session/observable';
import { IPlace } from './tutorialController';
import { useEditorChanges } from '../composer/editorChanges';
import { CardFrame } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';
import { IconButton } from '../../ui/IconButton';
import { Markdown } from '../conversation/Markdown';
import { usePanel } from '../context';

/** The lesson that is being learned; small while its notebook is not active. */
export function LessonCard(): JSX.Element | null {
  const { toolsPanel, editor } = usePanel().model;
  const place = useValue(toolsPanel.tutorials.place);
  useValue(toolsPanel.tutorials.known);
  useEditorChanges();
  const { tutorial, lesson } = toolsPanel.tutorials.current ?? {};
  if (!place || !tutorial || !lesson) {
    return null;
  }
  const isFront = editor.activeNotebook === tutorial.notebook;
  return (
    <CardFrame title={tutorial.title} testId="da-lesson">
      <Steps tutorial={tutorial} lesson={lesson} />
      {isFront ? (
        <Task tutorial={tutorial} lesson={lesson} place={place} />
      ) : (
        <div className="da-buttons">
          <button
            type="button"
            className="da-link"
            onClick={() =>
              void (tutorial.notebook
                ? toolsPanel.tutorials.reveal()
                : toolsPanel.openTutorial(tutorial.id))
            }
          >
            {tutorial.notebook
              ? `Continue in ${PathExt.basename(tutorial.notebook)}`
              : 'Its notebook was deleted. Start again'}
          </button>
        </div>
      )}
    </CardFrame>
  );
}

/** Which lesson it is, how many are done, and the ways to the others. */
function Steps(props: { tutorial: Tutorial; lesson: Lesson }): JSX.Element {
  const { tutorial, lesson } = props;
  const { tutorials } = usePanel().model.toolsPanel;
  const { done, total } = progressOf(tutorial);
  return (
    <div className="da-lesson-steps">
      <div
        className="da-lesson-progress"
        role="progressbar"
        aria-label="Lessons done"
        aria-valuemin={0}
        aria-valuemax={total}
        aria-valuenow={done}
        aria-valuetext={`${done} of ${total} lessons done`}
      >
        {tutorial.lessons.map(each => (
          <span
            key={each.number}
            data-done={each.done}
            data-current={each.number === lesson.number}
          />
        ))}
      </div>
      <span className="da-dim">{`${done} of ${total} done`}</span>
      <IconButton
        icon={caretLeftIcon}
        label="Previous lesson"
        disabled={lesson.number === 1}
        onClick={() => void tutorials.goTo(lesson.number - 1)}
      />
      <IconButton
        icon={caretRightIcon}
        label="Next lesson"
        disabled={lesson.number === total}
        onClick={() => void tutorials.goTo(lesson.number + 1)}
      />
    </div>
  );
}

function Task(props: {
  tutorial: Tutorial;
  lesson: Lesson;
  place: IPlace;
}): JSX.Element {
  const { tutorial, lesson, place } = props;
  const { tutorials } = usePanel().model.toolsPanel;
  const { verdict, problem, isChecking } = place;
  const isLast = lesson.number === tutorial.lessons.length;
  const { done, total } = progressOf(tutorial);
  return (
    <>
      <h4>
        {`${lesson.number}. ${lesson.title}`}
        {lesson.done && <span className="da-done"> · done</span>}
      </h4>
      <Markdown text={lesson.task} isGrowing={false} />
      <details className="da-more" key={`why-${lesson.number}`}>
        <summary>Explanation</summary>
        <Markdown text={lesson.explanation} isGrowing={false} />
      </details>
      <details className="da-more" key={`out-${lesson.number}`}>
        <summary>Expected output</summary>
        <Markdown text={lesson.expectedOutput} isGrowing={false} />
      </details>
      <details className="da-more" key={`hint-${lesson.number}`}>
        <summary>Hint</summary>
        <Markdown text={lesson.hint} isGrowing={false} />
      </details>
      <div className="da-buttons">
        <button
          type="button"
          className={`da-button ${verdict?.passed ? '' : 'da-mod-primary'}`}
          data-testid="da-check"
          disabled={isChecking}
          onClick={() => void tutorials.check()}
        >
          {isChecking ? 'Checking' : 'Check'}
        </button>
        <button
          type="button"
          className="da-link"
          onClick={() => void tutorials.reveal()}
        >
          Go to cell
        </button>
        {verdict?.passed && !isLast && (
          <button
            type="button"
            className="da-button da-mod-primary"
            onClick={() => void tutorials.goTo(lesson.number + 1)}
          >
            Next lesson
          </button>
        )}
      </div>
      {problem && <Problem message={problem} />}
      <div role="status">
        {verdict && !isChecking && (
          <Verdict
            passed={verdict.passed}
            feedback={
              verdict.passed && done === total
                ? `${verdict.feedback}\n\nAll ${total} lessons are done.`
                : verdict.feedback
            }
          />
        )}
      </div>
    </>
  );
}

/** What was said of the answer. */
function Verdict(props: { passed: boolean; feedback: string }): JSX.Element {
  const { passed, feedback } = props;
  const Icon = (passed ? checkIcon : errorIcon).react;
  return (
    <div className="da-verdict" data-testid="da-verdict" data-passed={passed}>
      <div className="da-verdict-head">
        <Icon tag="span" className="da-status-icon" aria-hidden="true" />
        <strong>{passed ? 'Correct' : 'Not yet'}</strong>
      </div>
      <Markdown text={feedback} isGrowing={false} />
    </div>
  );
}
