import React, { useEffect, useState } from 'react';

import { InputChatModel } from './chatModel';
import { IRemedy } from './notebookQuestion';
import { useValue } from '../../session/observable';
import { useComposer } from './composerContext';
import { usePanel } from '../context';
import { useEditorChanges } from './editorChanges';

/** A message that needs a notebook waits here for the user to say whether one goes with it. */
export function AskNotebook(props: {
  chat: InputChatModel;
}): JSX.Element | null {
  const { chat } = props;
  const { notebookQuestion } = usePanel().model;
  const composer = useComposer();
  const question = useValue(notebookQuestion);
  const [typed, setTyped] = useState('');
  useEditorChanges();

  useEffect(() => {
    const onChange = () => setTyped(chat.input.value.trim());
    chat.input.valueChanged.connect(onChange);
    onChange();
    return () => {
      chat.input.valueChanged.disconnect(onChange);
    };
  }, [chat]);

  // What is written anew is asked about when it is sent.
  if (!question || typed !== question.message) {
    return null;
  }
  const { message, why, remedies } = question;
  const answer = (remedy: IRemedy | null) => {
    composer.focus();
    const submitted = notebookQuestion.answer(remedy);
    chat.input.value = '';
    void submitted.then(about => chat.submit(message, about));
  };
  return (
    <div
      className="da-notice da-mod-info"
      role="alert"
      data-testid="da-ask-notebook"
    >
      <span className="da-lack">{why}</span>
      <div className="da-buttons">
        {remedies.map((remedy, index) => (
          <button
            key={remedy.label}
            type="button"
            className={`da-button${index ? '' : ' da-mod-primary'}`}
            data-testid="da-attach-and-send"
            title={`${remedy.label} and send`}
            onClick={() => answer(remedy)}
          >
            {remedies.length > 1
              ? `${remedy.label} and send`
              : sendLabel(remedy)}
          </button>
        ))}
        <button
          type="button"
          className="da-button"
          data-testid="da-send-without"
          title="Send without a notebook (Enter)"
          onClick={() => answer(null)}
        >
          Send without
        </button>
      </div>
    </div>
  );
}

/** "Attach and send": the notebook is named above. */
function sendLabel({ label }: IRemedy): string {
  return `${label.slice(0, label.indexOf(' '))} and send`;
}
