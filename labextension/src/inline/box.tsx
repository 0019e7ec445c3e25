import { ReactWidget } from '@jupyterlab/apputils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import {
  caretDownIcon,
  caretRightIcon,
  closeIcon,
  stopIcon
} from '@jupyterlab/ui-components';
import { Message } from '@lumino/messaging';
import React, {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState
} from 'react';

import { Approval } from '../approvals/Approval';
import { InputForm } from '../approvals/InputForm';
import { answerPlaceholder, Question } from '../approvals/Question';
import { IconButton } from '../ui/IconButton';
import { useKeptFocus } from '../ui/keepFocus';
import { sendIcon } from '../ui/icons';
import { useValue } from '../session/observable';
import { Action } from './action';
import { Answer } from './answerView';
import { CodeUses } from './codeUses';
import { Decisions } from './decisions';
import { InlineModel } from './model';
import { IOffer } from './state';

/** What the box needs beside its model. */
export interface IBoxOptions {
  model: InlineModel;
  rendermime: IRenderMimeRegistry;
  openPath: (path: string) => void;
  /** Open a file by its path under the server root. */
  openFile: (path: string) => void;
}

/** The box of an inline chat, above the editor that it is about. */
export class InlineBox extends ReactWidget {
  constructor(private readonly _options: IBoxOptions) {
    super();
    this.addClass('da-inline');
    this.node.dataset.testid = 'da-inline';
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', 'Inline chat');
    this.node.addEventListener('focusin', () => (this._hasFocus = true));
    this.node.addEventListener('focusout', ({ relatedTarget }) => {
      // Without another element, it went with the box.
      this._hasFocus = relatedTarget === null;
    });
    for (const type of ['mousedown', 'dblclick', 'contextmenu', 'lm-drop']) {
      // The notebook would drag the cell, select it, or take the keyboard.
      this.node.addEventListener(type, event => event.stopPropagation());
    }
  }

  /** JupyterLab takes it off the page and puts it back where its cell is moved. */
  protected onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    if (this._hasFocus && document.activeElement === document.body) {
      this.focusInput();
    }
  }

  /** Put the cursor into the input, as soon as it is there. */
  focusInput(): void {
    const field = this.node.querySelector('textarea');
    if (field) {
      if (document.activeElement !== field) {
        // Behind what was typed before.
        field.setSelectionRange(field.value.length, field.value.length);
      }
      field.focus();
    } else if (!this.isDisposed) {
      requestAnimationFrame(() => this.focusInput());
    }
  }

  protected render(): JSX.Element {
    return <Box {...this._options} />;
  }

  private _hasFocus = false;
}

function Box(options: IBoxOptions): JSX.Element {
  const { model, rendermime, openPath } = options;
  const state = useValue(model.state);
  const uses = useMemo(() => new CodeUses(model), [model]);
  const [text, setText] = useState(model.draft);
  const field = useRef<HTMLTextAreaElement>(null);
  const body = useRef<HTMLDivElement>(null);
  useKeptFocus(body, () => {
    if (field.current) {
      field.current.focus();
    } else {
      model.target.focusBack();
    }
  });

  useEffect(() => {
    if (state.draft !== null) {
      setText(now => now || (state.draft ?? ''));
    }
  }, [state.draft]);

  useLayoutEffect(() => {
    // As high as its text.
    const area = field.current;
    if (area) {
      area.style.height = '0';
      area.style.height = `${area.scrollHeight}px`;
    }
  }, [text, state.isDone]);

  const { waiting } = state;
  // A form has fields of its own.
  const isAsked = waiting?.kind === 'question' && !waiting.form;
  const isWorking = state.activity !== null && !isAsked;
  const answer = (text: string) => {
    void model.send(text);
    setText('');
  };
  const send = () => {
    if (text.trim() && !isWorking) {
      answer(text.trim());
    }
  };

  const onKeyDown = (event: React.KeyboardEvent) => {
    // Of what is typed here the notebook and its commands hear nothing.
    event.stopPropagation();
    const isAccel = event.ctrlKey || event.metaKey;
    const isInInput = event.target === field.current;
    if (event.nativeEvent.isComposing || event.defaultPrevented) {
      return;
    }
    if (event.key === 'Escape') {
      model.putAside();
    } else if (event.key === 'Enter' && isAccel) {
      model.acceptAll(event.shiftKey);
    } else if (event.key === 'Enter' && isInInput && !event.shiftKey) {
      send();
    } else if (event.altKey && event.key === 'ArrowDown') {
      model.proposals.move(1);
    } else if (event.altKey && event.key === 'ArrowUp') {
      model.proposals.move(-1);
    } else {
      return;
    }
    event.preventDefault();
  };

  const hasAnswer = state.prose !== '' || state.asked !== '';
  return (
    <div className="da-inline-body" ref={body} onKeyDown={onKeyDown}>
      {state.isDone ? (
        <Note note={state.note} />
      ) : (
        <>
          <div className="da-inline-line">
            <textarea
              ref={field}
              data-testid="da-inline-input"
              aria-label={model.target.placeholder}
              placeholder={
                isAsked
                  ? answerPlaceholder(waiting)
                  : hasAnswer
                    ? 'Ask a follow-up'
                    : model.target.placeholder
              }
              rows={1}
              value={text}
              onChange={event => {
                model.typed(event.target.value);
                setText(event.target.value);
              }}
            />
            {isWorking ? (
              <IconButton
                icon={stopIcon}
                label="Stop"
                data-testid="da-inline-stop"
                data-lm-suppress-shortcuts="true"
                onClick={() => {
                  // This button is about to be another one.
                  field.current?.focus();
                  model.stop();
                }}
              />
            ) : (
              <IconButton
                icon={sendIcon}
                label="Send (Enter)"
                data-testid="da-inline-send"
                data-lm-suppress-shortcuts="true"
                disabled={!text.trim()}
                onClick={send}
              />
            )}
          </div>
          {state.asked && (
            <Asked asked={state.asked} activity={state.activity} />
          )}
          {state.note && <Note note={state.note} />}
        </>
      )}
      {state.others.length > 0 && state.activity === null && (
        <Others
          others={state.others}
          focusInput={() => field.current?.focus()}
        />
      )}
      {state.prose && (
        <Folded>
          <Answer
            text={state.prose}
            isGrowing={state.activity !== null}
            rendermime={rendermime}
            openPath={openPath}
            uses={uses}
          />
        </Folded>
      )}
      <Action {...options} state={state} />
      {waiting && (
        <div
          className="da-inline-waiting"
          role="status"
          data-lm-suppress-shortcuts="true"
        >
          {waiting.kind === 'approval' ? (
            <Approval
              key={waiting.id}
              entry={waiting}
              cellNumber={() => null}
              decide={model.decideApproval}
            />
          ) : waiting.form ? (
            <InputForm
              key={waiting.id}
              entry={waiting}
              answer={form => model.fillIn(waiting.id, form)}
            />
          ) : (
            <Question
              key={waiting.id}
              entry={waiting}
              typed={text}
              answer={answer}
            />
          )}
        </div>
      )}
      {state.notice && (
        <div className="da-inline-notice" role="alert">
          {state.notice}
          {state.again && state.activity === null && (
            <button
              type="button"
              className="da-inline-button"
              data-testid="da-inline-again"
              data-lm-suppress-shortcuts="true"
              onClick={state.again.act}
            >
              {state.again.label}
            </button>
          )}
        </div>
      )}
      <Decisions
        model={model}
        state={state}
        focusInput={() => field.current?.focus()}
      />
      <IconButton
        icon={closeIcon}
        label="Close (Escape). Reopen it to continue where you left off"
        className="da-inline-close"
        data-testid="da-inline-close"
        data-lm-suppress-shortcuts="true"
        onClick={() => model.putAside()}
      />
    </div>
  );
}

/** The reason for a proposal, or how far it has come. */
function Note({ note }: { note: string | null }): JSX.Element {
  return (
    <div className="da-inline-note" data-testid="da-inline-note" role="status">
      {note}
    </div>
  );
}

/** What could be proposed in place of what is. */
function Others(props: {
  others: readonly IOffer[];
  /** The buttons are about to be others. */
  focusInput: () => void;
}): JSX.Element {
  return (
    <div className="da-inline-others" role="group" aria-label="Other proposals">
      Or:
      {props.others.map(({ label, act }) => (
        <button
          key={label}
          type="button"
          className="da-inline-button"
          data-testid="da-inline-other"
          data-lm-suppress-shortcuts="true"
          onClick={() => {
            props.focusInput();
            act();
          }}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

/** What was asked, and what is done about it. */
function Asked(props: { asked: string; activity: string | null }): JSX.Element {
  return (
    <div className="da-inline-asked">
      <span className="da-inline-message" title={props.asked}>
        {props.asked}
      </span>
      <span role="status" className="da-inline-activity">
        {props.activity ?? ''}
      </span>
    </div>
  );
}

/** The answer's text, which can be folded away. */
function Folded({ children }: { children: React.ReactNode }): JSX.Element {
  const [isOpen, setOpen] = useState(true);
  return (
    <div className="da-inline-answer" data-testid="da-inline-answer">
      <IconButton
        icon={isOpen ? caretDownIcon : caretRightIcon}
        label={isOpen ? 'Hide the answer' : 'Show the answer'}
        aria-expanded={isOpen}
        data-lm-suppress-shortcuts="true"
        onClick={() => setOpen(!isOpen)}
      />
      <div className="da-inline-reply" hidden={!isOpen}>
        {children}
      </div>
      {!isOpen && <span className="da-inline-dim">Answer</span>}
    </div>
  );
}
