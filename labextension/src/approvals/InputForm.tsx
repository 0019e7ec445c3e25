import React, { Suspense, lazy, useId, useState } from 'react';

import { FormAnswer } from '../api/types';
import { IQuestionEntry } from '../session/turn';

/** The fields and their validator are loaded when the first form is shown. */
const InputFields = lazy(() => import('./InputFields'));

const DONE = {
  accept: 'You answered',
  decline: 'You declined to answer',
  cancel: 'Not answered'
};

/** A question of an MCP server that is answered by a form. Its texts are shown as they are. */
export function InputForm(props: {
  entry: IQuestionEntry;
  answer: (answer: FormAnswer) => void;
}): JSX.Element {
  const { entry } = props;
  const [isSent, setSent] = useState(false);
  const id = useId();
  const server = entry.form?.server ?? '';
  if (!entry.open) {
    return (
      <div className="da-decided" data-decision={entry.action}>
        {`${DONE[entry.action ?? 'cancel']}: a question of the MCP server ${server}`}
      </div>
    );
  }
  const answer = (action: FormAnswer['action'], values = {}) => {
    setSent(true);
    props.answer({ action, values });
    // Where the answer did not get through, it can be given again.
    setTimeout(() => setSent(false), 3000);
  };
  return (
    <section
      className="da-waiting"
      aria-labelledby={id}
      data-testid="da-input-form"
    >
      <h3 id={id}>{`The MCP server ${server} asks you`}</h3>
      <blockquote className="da-foreign">{entry.question}</blockquote>
      <p className="da-dim">
        {`What you enter goes to ${server}, whose result the model reads. Enter no passwords, keys or other secrets.`}
      </p>
      <Suspense fallback={<p className="da-dim">Loading the form</p>}>
        <InputFields
          id={id}
          schema={entry.form?.schema ?? {}}
          isDisabled={isSent}
          onSubmit={values => answer('accept', values)}
        >
          <div className="da-buttons">
            <button
              type="submit"
              className="da-button da-mod-primary"
              disabled={isSent}
            >
              {`Send to ${server}`}
            </button>
            <button
              type="button"
              className="da-button"
              title={`Refuse to answer; ${server} is notified`}
              disabled={isSent}
              onClick={() => answer('decline')}
            >
              Decline
            </button>
            <button
              type="button"
              className="da-button"
              title={`Decide nothing; ${server} may ask again`}
              disabled={isSent}
              onClick={() => answer('cancel')}
            >
              Cancel
            </button>
          </div>
        </InputFields>
      </Suspense>
    </section>
  );
}
