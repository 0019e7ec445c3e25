import React, { useEffect } from 'react';

import { FolderInstructions } from '../../api/types';
import { useValue } from '../../session/observable';
import { Problem } from '../../ui/Problem';
import { usePanel } from '../context';
import { FolderFileNotice } from '../toolsPanel/FolderFileNotice';

/** Asks, above the input, about an `AGENTS.md` that nothing was decided about. */
export function InstructionsQuestion(): JSX.Element | null {
  const { model } = usePanel();
  const { instructions } = model.toolsPanel;
  const { file, failed } = useValue(instructions.shown);
  const { store } = useValue(model.shown);
  const { runningTurnId } = useValue(store.conversation);
  useEffect(
    () => void instructions.refresh(),
    [instructions, store, runningTurnId]
  );
  if (!file || file.allowed || file.declined) {
    return null;
  }
  return (
    <>
      <Question file={file} />
      {failed && <Problem message={failed} />}
    </>
  );
}

function Question({ file }: { file: FolderInstructions }): JSX.Element {
  const { instructions } = usePanel().model.toolsPanel;
  const { text, hasChanged } = file;
  return (
    <FolderFileNotice
      label="Instructions of this folder"
      testId="da-instructions"
      question={
        hasChanged
          ? 'AGENTS.md of this folder has changed since you allowed it. Use it only if you trust who wrote it.'
          : 'AGENTS.md of this folder instructs the agent. Use it only if you trust who wrote it.'
      }
      allow={{
        label: 'Use it',
        testId: 'da-instructions-allow',
        run: () => void instructions.decide(file, true)
      }}
      decline={{
        label: 'Do not use it',
        testId: 'da-instructions-decline',
        run: () => void instructions.decide(file, false)
      }}
    >
      {/* Focusable, so that it scrolls by the keyboard. */}
      <pre
        className="da-folder-file-text"
        tabIndex={0}
        aria-label="Text of the instructions"
        data-testid="da-instructions-text"
      >
        {text}
      </pre>
    </FolderFileNotice>
  );
}

/** What was decided about the folder's `AGENTS.md`, and a way to decide otherwise. */
export function InstructionsDecision(): JSX.Element | null {
  const { instructions } = usePanel().model.toolsPanel;
  const { file, problem } = useValue(instructions.shown);
  if (problem) {
    return (
      <div className="da-notice da-mod-warning" role="status">
        {problem}
      </div>
    );
  }
  if (!file || !(file.allowed || file.declined)) {
    return null;
  }
  return (
    <p className="da-dim" data-testid="da-instructions-decided">
      {`${file.path} is ${file.allowed ? '' : 'not '}sent to the model. `}
      <button
        type="button"
        className="da-link"
        data-testid="da-instructions-change"
        onClick={() => void instructions.decide(file, !file.allowed)}
      >
        {file.allowed ? 'Do not use it' : 'Use it'}
      </button>
    </p>
  );
}
