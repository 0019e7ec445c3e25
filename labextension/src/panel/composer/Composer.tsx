import { ChatInput } from '@jupyter/chat/lib/components/input/chat-input';
import { JlThemeProvider } from '@jupyter/chat/lib/components/jl-theme-provider';
import { ChatReactContext } from '@jupyter/chat/lib/context';
import { getJupyterLabTheme } from '@jupyter/chat/lib/theme-provider';
import { IThemeManager } from '@jupyterlab/apputils';
import React, {
  memo,
  useLayoutEffect,
  useEffect,
  useMemo,
  useRef,
  useState
} from 'react';

import { IInputSetup } from './inputSetup';
import { submitInput } from './submit';
import { usePanel } from '../context';

/** Without JupyterLab's themes the input is shown after so long, in ms. */
const NO_THEME_MS = 1000;

/** The input of `@jupyter/chat` in JupyterLab's colours. */
export const Composer = memo(
  (props: {
    setup: IInputSetup;
    themeManager: IThemeManager | null;
  }): JSX.Element => {
    const { setup, themeManager } = props;
    const { rendermime } = usePanel();
    const hadFocus = useRef(false);
    const isThemed = useIsThemed();
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
    return (
      <JlThemeProvider themeManager={themeManager}>
        {isThemed && (
          <ChatReactContext.Provider value={context}>
            <QuietInput setup={setup} hadFocus={hadFocus} />
          </ChatReactContext.Provider>
        )}
      </JlThemeProvider>
    );
  }
);

/**
 * Whether JupyterLab's theme is there: `JlThemeProvider` mounts what is in it anew then, and a Tab
 * that is pressed meanwhile would leave the panel. It asks for the theme first, so has it first.
 */
function useIsThemed(): boolean {
  const [isThemed, setIsThemed] = useState(false);
  useEffect(() => {
    const show = () => setIsThemed(true);
    void getJupyterLabTheme().then(show, show);
    const timer = window.setTimeout(show, NO_THEME_MS);
    return () => window.clearTimeout(timer);
  }, []);
  return isThemed;
}

/** The input, made accessible and kept from taking the focus by itself. */
function QuietInput(props: {
  setup: IInputSetup;
  hadFocus: React.MutableRefObject<boolean>;
}): JSX.Element {
  const { hadFocus } = props;
  const { model } = usePanel();
  const frame = useRef<HTMLDivElement>(null);

  // The input focuses itself once it is drawn, which would take the keys of a user who is typing
  // elsewhere: until then its `focus` does nothing. Made inert for so long, it would let Tab leave
  // the panel.
  useLayoutEffect(() => {
    const field = inputIn(frame.current);
    if (hadFocus.current) {
      field?.focus();
    }
    if (field) {
      field.focus = () => undefined;
    }
  }, [hadFocus]);
  useEffect(() => {
    const field = inputIn(frame.current);
    if (field) {
      Reflect.deleteProperty(field, 'focus');
    }
  }, []);

  // Mounted anew under a theme that came late, the input keeps the focus that the user gave it.
  useLayoutEffect(() => {
    const node = frame.current;
    return () => {
      hadFocus.current = !!node?.contains(document.activeElement);
    };
  }, [hadFocus]);

  useLayoutEffect(() => {
    const field = inputIn(frame.current);
    field?.setAttribute('data-testid', 'da-input');
    field?.setAttribute('aria-label', 'Message to the agent');
    field?.setAttribute(
      'placeholder',
      'Ask or give an instruction (@ context, # tools, / commands)'
    );
  });

  return (
    <div
      className="da-composer"
      ref={frame}
      onFocus={() => model.inputFocused()}
      onKeyDownCapture={event => onKeyBefore(event, props.setup)}
    >
      <ChatInput model={props.setup.chatModel.input} />
    </div>
  );
}

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

/** Whether a text field can be focused: not until it is drawn. */
export function canFocus(field: HTMLTextAreaElement): boolean {
  return !Object.hasOwn(field, 'focus');
}

/** What the input gets wrong by itself. */
function onKeyBefore(event: React.KeyboardEvent, setup: IInputSetup): void {
  const { key, target } = event;
  if (key === 'Enter' && event.nativeEvent.isComposing) {
    // Enter that ends a composition (Chinese, Japanese, Korean) does not send.
    event.stopPropagation();
    return;
  }
  if ((key !== 'Enter' && key !== 'Tab') || event.shiftKey) {
    return;
  }
  const field = target as HTMLElement;
  const chosen = highlighted(field);
  const isMeant =
    key === 'Enter' && (chosen ? isWhole(chosen, setup) : isOpen(field));
  if (!chosen && !isMeant) {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  if (isMeant) {
    // There is nothing to complete, or a menu that has only just opened: this is to be sent.
    void submitInput(setup.chatModel.input, setup.commands);
  } else if (chosen) {
    // Newer versions of MUI take the words typed over the first completion, which would be lost.
    chosen.click();
  }
}

/** Whether the menu of completions of a field is open. */
function isOpen(field: HTMLElement): boolean {
  return field.getAttribute('aria-expanded') === 'true';
}

/** The completion that is highlighted in the open menu of a field. */
function highlighted(field: HTMLElement): HTMLElement | null {
  const id = field.getAttribute('aria-activedescendant');
  return isOpen(field) && id ? document.getElementById(id) : null;
}

/** Whether what is typed is all that would be completed: a command, or the chosen completion. */
function isWhole(chosen: HTMLElement, setup: IInputSetup): boolean {
  const { input } = setup.chatModel;
  const name = chosen.querySelector('.jp-chat-command-name')?.textContent;
  return setup.isCommand(input.value) || name === input.currentWord;
}
