import { InputToolbarRegistry } from '@jupyter/chat/lib/components/input/toolbar-registry';
import { stopIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useState } from 'react';

import { submitInput } from './submit';
import { sendIcon } from '../../ui/icons';
import { useValue } from '../../session/observable';
import { IconButton } from '../../ui/IconButton';
import { usePanel } from '../context';

/** Send, which turns into Stop while a turn runs; with words in the input there are both. */
export function SendButtons(
  props: InputToolbarRegistry.IToolbarItemProps
): JSX.Element {
  const { model: input, chatCommandRegistry } = props;
  const { model } = usePanel();
  const { store } = useValue(model.shown);
  const { runningTurnId } = useValue(store.conversation);
  const [hasText, setHasText] = useState(!!input.value.trim());

  useEffect(() => {
    const onChange = () => setHasText(!!input.value.trim());
    input.valueChanged.connect(onChange);
    onChange();
    return () => {
      input.valueChanged.disconnect(onChange);
    };
  }, [input]);

  const send = async () => {
    await submitInput(input, chatCommandRegistry);
    input.focus();
  };
  const isRunning = !!runningTurnId;
  return (
    <span className="da-send-buttons">
      {(!isRunning || hasText) && (
        <IconButton
          icon={sendIcon}
          label={isRunning ? 'Send after this turn' : 'Send'}
          className="da-send"
          data-testid="da-send"
          disabled={!hasText}
          onClick={() => void send()}
        />
      )}
      {isRunning && (
        <IconButton
          icon={stopIcon}
          label="Stop (Esc)"
          className="da-stop"
          data-testid="da-stop"
          onClick={() => model.stop()}
        />
      )}
    </span>
  );
}
