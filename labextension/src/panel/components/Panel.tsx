import { IThemeManager } from '@jupyterlab/apputils';
import React, { useMemo, useRef } from 'react';

import { Attachment } from '../../api/types';
import { IInputSetup } from '../chat/inputSetup';
import { emptyTurn } from '../state/turn';
import { Value, useValue } from '../state/value';
import { abortWords, activityWords } from '../state/words';
import { ChangesBar } from './ChangesBar';
import { Composer, inputIn } from './Composer';
import { ContextStrip } from './ContextStrip';
import { Conversation } from './Conversation';
import { FixLine } from './FixLine';
import { GuideCard } from './GuideCard';
import { Header } from './Header';
import { Plan } from './Plan';
import { Queue } from './Queue';
import { ReferenceLacks } from './ReferenceLacks';
import { StaleLine } from './StaleLine';
import { Told } from './Told';
import { NotebookLack, ToolLacks } from './ToolLacks';
import { Uploads } from './Uploads';
import { WaitingElsewhere } from './WaitingElsewhere';
import { ComposerContext, useComposer } from './composerContext';
import {
  IPanelContext,
  PanelContext,
  useCellNumber,
  usePanel
} from './context';
import { useKeptFocus } from './keepFocus';

const NO_TURN = new Value(emptyTurn(''));

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
      focus: () => inputIn(frame.current)?.focus()
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
          <WaitingElsewhere />
          <ContextStrip onOpen={open} />
          <Plan />
          <GuideCard />
          <Conversation />
          <div className="da-bottom">
            <FixLine />
            <StaleLine />
            <ChangesBar />
            <Queue />
            <Uploads />
            <Notices />
            <Told />
            <ToolLacks input={setup.chatModel.input} />
            <NotebookLack input={setup.chatModel.input} />
            <ReferenceLacks input={setup.chatModel.input} />
            <Composer setup={setup} themeManager={themeManager} />
          </div>
          <Announcer />
        </div>
      </ComposerContext.Provider>
    </PanelContext.Provider>
  );
}

/** What the person should know about the connection or the last act. */
function Notices(): JSX.Element {
  const { model } = usePanel();
  const { status, attempt } = useValue(model.link);
  const notice = useValue(model.notice);
  const composer = useComposer();
  return (
    <>
      {status === 'offline' && (
        <div className="da-notice da-mod-warning" role="status">
          {`The server does not answer. Reconnecting${attempt > 1 ? `, attempt ${attempt}` : ''}. What you write stays here.`}
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

/** Says what goes on to people who hear the page. */
function Announcer(): JSX.Element {
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId, turnIds } = useValue(store.conversation);
  const newest = turnIds[turnIds.length - 1];
  const turn = useValue(newest ? store.turn(newest) : NO_TURN);
  const doing = activityWords(turn, useCellNumber(turn.target));
  const ended = turn.status === 'aborted' ? abortWords(turn) : 'Done';
  return (
    <div className="da-hidden" role="status" aria-live="polite">
      {runningTurnId ? doing : newest ? ended : ''}
    </div>
  );
}

/**
 * Escape stops the running turn, unless it has closed something of its own or the person is
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
