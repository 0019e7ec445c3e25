import { IThemeManager } from '@jupyterlab/apputils';
import React, { useMemo, useRef } from 'react';

import { Attachment } from '../api/types';
import { IInputSetup } from './composer/inputSetup';
import { emptyTurn } from '../session/turn';
import { Observable, useValue } from '../session/observable';
import { activityLabel, endLabel } from '../session/turnLabels';
import { AskNotebook } from './composer/AskNotebook';
import { ChangesBar } from './changes/ChangesBar';
import { Composer, inputIn } from './composer/Composer';
import { ContextStrip } from './composer/attachments/ContextStrip';
import { Conversation } from './conversation/Conversation';
import { FixLine } from './conversation/FixLine';
import { ToolsPanelCard } from './toolsPanel/ToolsPanelCard';
import { Header } from './sessionList/Header';
import { InstructionsQuestion } from './instructions/Instructions';
import { Plan } from './plan/Plan';
import { Queue } from './composer/Queue';
import { UnresolvedReferences } from './composer/attachments/UnresolvedReferences';
import { StaleLine } from './conversation/StaleLine';
import { ActionNotice } from './Notices';
import { ToolRequirements } from './composer/ToolRequirements';
import { Uploads } from './datasets/Uploads';
import { WaitingSessions } from './sessionList/WaitingSessions';
import { ComposerContext, useComposer } from './composer/composerContext';
import {
  IPanelContext,
  PanelContext,
  useCellNumber,
  usePanel
} from './context';
import { useKeptFocus } from '../ui/keepFocus';

const NO_TURN = new Observable(emptyTurn(''));

/** Properties of the `Panel`. */
export interface IPanelProps extends IPanelContext {
  setup: IInputSetup;
  themeManager: IThemeManager | null;
}

/** The whole panel, from top to bottom. */
export function Panel(props: IPanelProps): JSX.Element {
  const { setup, themeManager, model, rendermime, openSettings, code } = props;
  const frame = useRef<HTMLDivElement>(null);
  const context = useMemo(
    () => ({ model, rendermime, openSettings, code }),
    [model, rendermime, openSettings, code]
  );
  const composer = useMemo(
    () => ({
      write: (text: string) => {
        setup.chatModel.input.value = text;
        inputIn(frame.current)?.focus();
      },
      offer: (text: string) => {
        const { input } = setup.chatModel;
        input.value ||= text;
        inputIn(frame.current)?.focus();
      },
      focus: () => inputIn(frame.current)?.focus(),
      commands: setup.help
    }),
    [setup]
  );
  useKeptFocus(frame, composer.focus);
  const open = (attachment: Attachment) => {
    const { kind, path, cellId } = attachment;
    if (kind === 'dataset') {
      model.showDatasets();
    }
    if (!path) {
      return;
    }
    if (cellId) {
      void model.editor.reveal(path, cellId);
    } else {
      const type = kind === 'notebook' ? 'notebook' : 'file';
      setup.openers.get(type)?.({ type, value: path });
    }
  };
  return (
    <PanelContext.Provider value={context}>
      <ComposerContext.Provider value={composer}>
        <div
          className="da-root"
          ref={frame}
          onKeyDown={event => stopOnEscape(event, () => model.stop())}
        >
          <Header />
          <WaitingSessions />
          <ContextStrip onOpen={open} />
          <Conversation />
          {/* One place for all that is shown beside the conversation: it scrolls, and never takes the half. */}
          <div className="da-tray">
            <Plan />
            <ToolsPanelCard />
            <InstructionsQuestion />
            <FixLine />
            <StaleLine />
            <ChangesBar />
            <Queue />
            <Uploads />
          </div>
          <div className="da-notices">
            <Notices />
            <ActionNotice />
            <ToolRequirements input={setup.chatModel.input} />
            <AskNotebook chat={setup.chatModel} />
            <UnresolvedReferences input={setup.chatModel.input} />
          </div>
          <Composer setup={setup} themeManager={themeManager} />
          <Announcer />
        </div>
      </ComposerContext.Provider>
    </PanelContext.Provider>
  );
}

/** What the user should know about the connection or the last act. */
function Notices(): JSX.Element {
  const { model } = usePanel();
  const { status, attempt } = useValue(model.link);
  const notice = useValue(model.notice);
  const composer = useComposer();
  return (
    <>
      {status === 'offline' && (
        <div className="da-notice da-mod-warning" role="status">
          {`Connection lost. Reconnecting${attempt > 1 ? `, attempt ${attempt}` : ''}. Your draft is kept.`}
        </div>
      )}
      {notice && (
        <div
          className={`da-notice da-mod-${notice.level}`}
          role={notice.level === 'error' ? 'alert' : 'status'}
        >
          {notice.message}
          {notice.needs === 'model' && (
            <button
              type="button"
              className="da-link"
              onClick={() => void model.refreshModels()}
            >
              Check again
            </button>
          )}
          <button
            type="button"
            className="da-link"
            onClick={() => {
              model.notice.set(null);
              composer.focus();
            }}
          >
            Close
          </button>
        </div>
      )}
    </>
  );
}

/** What is going on and how it ended, for users who hear the page. */
function Announcer(): JSX.Element {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId, turnIds } = useValue(store.conversation);
  const newest = turnIds[turnIds.length - 1];
  const turn = useValue(newest ? store.turn(newest) : NO_TURN);
  const doing = activityLabel(turn, useCellNumber(turn.target));
  return (
    <div className="da-hidden" role="status" aria-live="polite">
      {runningTurnId ? doing : newest ? endLabel(turn) : ''}
    </div>
  );
}

/**
 * Escape stops the running turn, unless it has closed something of its own or the user is
 * writing: who leaves a field with it does not mean the agent.
 */
function stopOnEscape(event: React.KeyboardEvent, stop: () => void): void {
  if (
    event.key !== 'Escape' ||
    event.defaultPrevented ||
    event.nativeEvent.isComposing
  ) {
    return;
  }
  const { target } = event;
  const isWriting =
    target instanceof HTMLTextAreaElement && !!target.value.trim();
  if (!isWriting) {
    stop();
  }
}
