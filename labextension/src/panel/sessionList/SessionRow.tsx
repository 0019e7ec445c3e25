import { deleteIcon, editIcon } from '@jupyterlab/ui-components';
import React, { useRef, useState } from 'react';

import { Session } from '../../api/types';
import { useAfterRender } from '../../ui/afterRender';
import { formatWhen } from '../../ui/when';
import { IconButton } from '../../ui/IconButton';
import { usePanel } from '../context';

/** Properties of a `SessionRow`. */
export interface ISessionRowProps {
  session: Session;
  isShown: boolean;
  onOpen: () => void;
  onRenamed: (title: string) => void;
  onDeleted: () => void;
}

/** A session in the list: to open, to rename in its place, and to delete after a question. */
export function SessionRow(props: ISessionRowProps): JSX.Element {
  const { session, isShown } = props;
  const [state, setState] = useState<'shown' | 'renaming' | 'deleting'>(
    'shown'
  );
  const row = useRef<HTMLLIElement>(null);
  const title = session.title.trim() || 'Untitled session';
  const focusRow = useAfterRender(() =>
    row.current?.querySelector<HTMLElement>('.da-menu-item')?.focus()
  );
  const back = (keepsFocus = true) => {
    setState('shown');
    if (keepsFocus) {
      focusRow();
    }
  };
  return (
    <li className="da-session" ref={row}>
      {state === 'shown' && (
        <>
          <button
            type="button"
            className="da-menu-item"
            data-session={session.id}
            aria-current={isShown}
            title={title}
            onClick={props.onOpen}
          >
            <span className="da-session-title">{title}</span>
            <span className={session.waits ? 'da-waits' : 'da-dim'}>
              {stateLabel(session)}
            </span>
          </button>
          <IconButton
            icon={editIcon}
            label={`Rename ${title}`}
            className="da-session-act"
            onClick={() => setState('renaming')}
          />
          <IconButton
            icon={deleteIcon}
            label={`Delete ${title}`}
            className="da-session-act"
            onClick={() => setState('deleting')}
          />
        </>
      )}
      {state === 'renaming' && (
        <Renaming session={session} onRenamed={props.onRenamed} onEnd={back} />
      )}
      {state === 'deleting' && (
        <Deleting
          session={session}
          onDeleted={props.onDeleted}
          onEnd={() => back()}
        />
      )}
    </li>
  );
}

function stateLabel(session: Session): string {
  if (session.waits) {
    return 'waits for you';
  }
  return session.runningTurnId ? 'running' : formatWhen(session.updatedAt);
}

function Renaming(props: {
  session: Session;
  onRenamed: (title: string) => void;
  /** Whether the keyboard is to stay in the list. */
  onEnd: (keepsFocus: boolean) => void;
}): JSX.Element {
  const { model } = usePanel();
  const { session, onEnd } = props;
  const [draft, setDraft] = useState(session.title);
  const isOver = useRef(false);
  const finish = (save: boolean, keepsFocus = true) => {
    if (isOver.current) {
      return;
    }
    isOver.current = true;
    const title = draft.trim();
    if (save && title && title !== session.title) {
      void model.sessions.rename(title, session.id);
      props.onRenamed(title);
    }
    onEnd(keepsFocus);
  };
  return (
    <input
      className="da-field"
      aria-label="Title of the session"
      maxLength={200}
      autoFocus
      value={draft}
      onFocus={event => event.target.select()}
      onChange={event => setDraft(event.target.value)}
      // Who went on to something else is there already.
      onBlur={({ relatedTarget }) => finish(true, !relatedTarget)}
      onKeyDown={event => {
        if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
          finish(true);
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          finish(false);
        }
      }}
    />
  );
}

function Deleting(props: {
  session: Session;
  onDeleted: () => void;
  onEnd: () => void;
}): JSX.Element {
  const { model } = usePanel();
  const { session, onEnd } = props;
  const [isSent, setSent] = useState(false);
  const title = session.title.trim() || 'Untitled session';
  const remove = async () => {
    setSent(true);
    if (await model.sessions.delete(session.id)) {
      props.onDeleted();
    } else {
      onEnd();
    }
  };
  return (
    <div
      className="da-confirm"
      role="alertdialog"
      aria-label={`Delete ${title}?`}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onEnd();
        }
      }}
    >
      <div>
        Delete “{title}”?{' '}
        {session.runningTurnId && 'It is running and will be stopped. '}
        The conversation is lost; notebooks are kept.
      </div>
      <div className="da-buttons">
        <button
          type="button"
          className="da-button da-mod-danger"
          disabled={isSent}
          onClick={() => void remove()}
        >
          Delete
        </button>
        <button
          type="button"
          className="da-button"
          autoFocus
          disabled={isSent}
          onClick={onEnd}
        >
          Cancel
        </button>
      </div>
    </div>
  );
}
