import { LabIcon, caretDownIcon } from '@jupyterlab/ui-components';
import React, { useEffect, useRef, useState } from 'react';

import { IconButton } from '../ui/IconButton';
import { usePanel } from './context';

/** Properties of a `Popup`; its button shows the icon, or the words in `face`. */
export interface IPopupProps {
  icon?: LabIcon;
  face?: string;
  className?: string;
  label: string;
  title?: string;
  role: 'menu' | 'dialog';
  testId?: string;
  buttonTestId?: string;
  placement: 'above' | 'below';
  disabled?: boolean;
  children: (close: () => void) => React.ReactNode;
}

/**
 * A button that opens a small window over the panel; Escape, a click elsewhere and a message that is
 * sent close it.
 */
export function Popup(props: IPopupProps): JSX.Element {
  const { sending } = usePanel().model.messages;
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };

  useEffect(() => {
    if (!isOpen) {
      return;
    }
    const onDown = (event: Event) => {
      if (!frame.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    document.addEventListener('pointerdown', onDown, true);
    let onTheWay = sending.current.length;
    const unsubscribe = sending.subscribe(() => {
      if (sending.current.length > onTheWay) {
        setOpen(false);
      }
      onTheWay = sending.current.length;
    });
    frame.current
      ?.querySelector<HTMLElement>('.da-popup input, .da-popup button')
      ?.focus();
    return () => {
      unsubscribe();
      document.removeEventListener('pointerdown', onDown, true);
    };
  }, [isOpen, sending]);

  const toggle = {
    ref: button,
    disabled: props.disabled,
    'data-testid': props.buttonTestId,
    'aria-haspopup': props.role,
    'aria-expanded': isOpen,
    onClick: () => setOpen(!isOpen)
  };
  return (
    <div
      className={`da-popup-anchor ${props.className ?? ''}`}
      ref={frame}
      data-testid={props.testId}
      onKeyDown={event => isOpen && onKey(event, frame.current, close)}
      onBlur={event => {
        // The focus went on by the keyboard: what is open behind it would take its Escape.
        const to = event.relatedTarget;
        if (to && !event.currentTarget.contains(to)) {
          setOpen(false);
        }
      }}
    >
      {props.icon ? (
        <IconButton {...toggle} icon={props.icon} label={props.label} />
      ) : (
        <button
          {...toggle}
          type="button"
          className="da-select"
          title={props.title}
          aria-label={`${props.label}: ${props.face}`}
        >
          <span className="da-select-face">{props.face}</span>
          <caretDownIcon.react
            tag="span"
            className="da-caret"
            aria-hidden="true"
          />
        </button>
      )}
      {isOpen && (
        <div
          className={`da-popup da-mod-${props.placement}`}
          role={props.role}
          aria-label={props.label}
        >
          {props.children(close)}
        </div>
      )}
    </div>
  );
}

function onKey(
  event: React.KeyboardEvent,
  frame: HTMLElement | null,
  close: () => void
): void {
  if (event.key === 'Escape') {
    // Only the window closes: Escape in the panel would stop the turn.
    event.stopPropagation();
    close();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !frame) {
    return;
  }
  const items = [
    ...frame.querySelectorAll<HTMLElement>(
      '.da-popup .da-menu-item:not(:disabled), .da-popup input'
    )
  ];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + step + items.length) % items.length]?.focus();
  event.preventDefault();
}
