import { IInputModel } from '@jupyter/chat/lib/input-model';
import React, { useEffect, useState } from 'react';

import { mentionsIn } from './references';
import { typedIn } from './typedReferences';
import { useEditorChanges } from '../editorChanges';
import { usePanel } from '../../context';

/** How long nothing is typed before it is looked up, in ms. */
const PAUSE = 300;

/** References in the message that name nothing, before it is sent. */
export function UnresolvedReferences(props: {
  input: IInputModel;
}): JSX.Element | null {
  const { input } = props;
  const { model } = usePanel();
  const [typed, setTyped] = useState('');
  const [nothing, setNothing] = useState<readonly string[]>([]);
  useEditorChanges();
  const notebook = model.editor.activeNotebook;

  useEffect(() => {
    let timer = 0;
    const onChange = () => {
      window.clearTimeout(timer);
      const look = () =>
        setTyped(now => (isSame(now, input.value) ? now : input.value));
      timer = window.setTimeout(look, input.value ? PAUSE : 0);
    };
    input.valueChanged.connect(onChange);
    onChange();
    return () => {
      window.clearTimeout(timer);
      input.valueChanged.disconnect(onChange);
    };
  }, [input]);

  useEffect(() => {
    let isCurrent = true;
    typedIn(typed, model.references, true).then(
      found => isCurrent && setNothing(found.nothing),
      () => undefined // Reported when the message is sent.
    );
    return () => {
      isCurrent = false;
    };
  }, [model, typed, notebook]);

  return nothing.length ? (
    <div
      className="da-notice da-mod-info"
      role="status"
      data-testid="da-reference-lacks"
    >
      {`Cannot attach: ${nothing.join(', ')}.`}
    </div>
  ) : null;
}

/** Whether two texts refer to the same. */
function isSame(one: string, other: string): boolean {
  return mentionsIn(one, true).join() === mentionsIn(other, true).join();
}
