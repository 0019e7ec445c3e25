import { ChatInput } from '@jupyter/chat/lib/components/input/chat-input';
import { JlThemeProvider } from '@jupyter/chat/lib/components/jl-theme-provider';
import { ChatReactContext } from '@jupyter/chat/lib/context';
import { IThemeManager } from '@jupyterlab/apputils';
import React, { memo, useLayoutEffect, useEffect, useMemo, useRef } from 'react';

import { IInputSetup } from '../chat/inputSetup';
import { usePanel } from './context';

/** The input of `@jupyter/chat`, made accessible and kept from taking the focus by itself. */
export const Composer = memo(function Composer(props: {
  setup: IInputSetup;
  themeManager: IThemeManager | null;
}): JSX.Element {
  const { setup, themeManager } = props;
  const { model, rendermime } = usePanel();
  const frame = useRef<HTMLDivElement>(null);
  const context = useMemo(
    () => ({
      model: setup.chatModel,
      rmRegistry: rendermime,
      chatCommandRegistry: setup.commands,
      attachmentOpenerRegistry: setup.openers,
      inputToolbarRegistry: setup.toolbar,
      area: 'sidebar' as const
    }),
    [setup, rendermime]
  );

  // The input focuses itself when it is first drawn, which would take the keys of a person who
  // is typing elsewhere. In an inert element it cannot.
  useLayoutEffect(() => frame.current?.setAttribute('inert', ''), []);
  useEffect(() => frame.current?.removeAttribute('inert'), []);

  useLayoutEffect(() => {
    const field = inputIn(frame.current);
    field?.setAttribute('data-testid', 'da-input');
    field?.setAttribute('aria-label', 'Message to the agent');
    field?.setAttribute('placeholder', 'Ask, or say what to do. @ # /');
  });

  return (
    <div
      className="da-composer"
      ref={frame}
      onFocus={() => model.inputFocused()}
      onKeyDownCapture={keepComposition}
    >
      <JlThemeProvider themeManager={themeManager}>
        <ChatReactContext.Provider value={context}>
          <ChatInput model={setup.chatModel.input} />
        </ChatReactContext.Provider>
      </JlThemeProvider>
    </div>
  );
});

/** The text field in an element; its hidden twin, which measures the height, is not it. */
export function inputIn(
  element: HTMLElement | null
): HTMLTextAreaElement | null {
  return (
    element?.querySelector<HTMLTextAreaElement>(
      'textarea:not([aria-hidden="true"])'
    ) ?? null
  );
}

/** Enter that ends a composition (Chinese, Japanese, Korean) does not send. */
function keepComposition(event: React.KeyboardEvent): void {
  if (event.key === 'Enter' && event.nativeEvent.isComposing) {
    event.stopPropagation();
  }
}
