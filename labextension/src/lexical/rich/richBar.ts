import { $isLinkNode, $toggleLink, LinkNode } from '@lexical/link';
import {
  $insertList,
  $isListNode,
  $removeList,
  ListNode,
  ListType
} from '@lexical/list';
import {
  $findMatchingParent,
  $getSelection,
  $isRangeSelection,
  COMMAND_PRIORITY_NORMAL,
  FORMAT_TEXT_COMMAND,
  INDENT_CONTENT_COMMAND,
  KEY_DOWN_COMMAND,
  LexicalEditor,
  OUTDENT_CONTENT_COMMAND,
  TextFormatType
} from 'lexical';

import { button } from '../elements';
import { isLinkable } from '../render';

const FORMATS: readonly (readonly [TextFormatType, string, string, string])[] =
  [
    ['bold', 'B', 'Bold', 'Ctrl+B'],
    ['italic', 'I', 'Italic', 'Ctrl+I'],
    ['underline', 'U', 'Underline', 'Ctrl+U'],
    ['strikethrough', 'S', 'Strikethrough', 'Ctrl+Shift+X'],
    ['code', '<>', 'Code', 'Ctrl+E']
  ];

/** What the selection is, as the bar shows it. */
interface ISelected {
  formats: ReadonlySet<TextFormatType>;
  link: LinkNode | null;
  list: ListNode | null;
}

/** The formats of a text, as buttons and as keys. */
export class RichBar {
  constructor(private readonly _editor: LexicalEditor) {
    this.node.className = 'da-lex-formats';
    this.node.setAttribute('role', 'toolbar');
    this.node.setAttribute('aria-label', 'Formats');
    for (const [format, label, name, keys] of FORMATS) {
      const made = this._toggle(label, name, keys, () =>
        _editor.dispatchCommand(FORMAT_TEXT_COMMAND, format)
      );
      made.dataset.format = format;
      this._formats.set(format, made);
    }
    this._link = this._toggle('Link', 'Link', 'Ctrl+K', () => this._askUrl());
    this._bullets = this._toggle('•', 'Bulleted list', 'Ctrl+Shift+8', () =>
      this._setList('bullet')
    );
    this._numbers = this._toggle('1.', 'Numbered list', 'Ctrl+Shift+7', () =>
      this._setList('number')
    );
    this._url.className = 'da-lex-url';
    this._url.hidden = true;
    this._ends = [
      _editor.registerUpdateListener(() => this._show()),
      _editor.registerCommand(
        KEY_DOWN_COMMAND,
        event => this._onKey(event),
        COMMAND_PRIORITY_NORMAL
      ),
      _editor.registerRootListener((root, before) => {
        before?.removeEventListener('keydown', this._onLinkKey, true);
        root?.addEventListener('keydown', this._onLinkKey, true);
      })
    ];
    this.node.append(this._url);
  }

  readonly node = document.createElement('div');

  dispose(): void {
    this._ends.forEach(end => end());
  }

  private _toggle(
    label: string,
    name: string,
    keys: string,
    act: () => unknown
  ): HTMLButtonElement {
    const made = button(label, `${name} (${keys})`, act);
    made.setAttribute('aria-label', name);
    made.setAttribute('aria-pressed', 'false');
    // The selection stays where it is.
    made.addEventListener('mousedown', event => event.preventDefault());
    this.node.append(made);
    return made;
  }

  private _onKey(event: KeyboardEvent): boolean {
    const { code, shiftKey, altKey } = event;
    const key = event.key.toLowerCase();
    const isAccel = (event.ctrlKey || event.metaKey) && !altKey;
    let act: (() => unknown) | null = null;
    if (isAccel && !shiftKey && key === 'e') {
      act = () => this._editor.dispatchCommand(FORMAT_TEXT_COMMAND, 'code');
    } else if (isAccel && shiftKey && code === 'KeyX') {
      act = () =>
        this._editor.dispatchCommand(FORMAT_TEXT_COMMAND, 'strikethrough');
    } else if (isAccel && shiftKey && code === 'Digit8') {
      act = () => this._setList('bullet');
    } else if (isAccel && shiftKey && code === 'Digit7') {
      act = () => this._setList('number');
    } else if (key === 'tab' && !isAccel && this._selected().list) {
      act = () =>
        this._editor.dispatchCommand(
          shiftKey ? OUTDENT_CONTENT_COMMAND : INDENT_CONTENT_COMMAND,
          undefined
        );
    }
    if (!act) {
      return false;
    }
    event.preventDefault();
    act();
    return true;
  }

  /**
   * Ctrl+K, before Lexical's update for the key begins: the field has the focus at once, so that
   * the next key does not replace the text that is to be linked.
   */
  private readonly _onLinkKey = (event: KeyboardEvent): void => {
    const isAccel = (event.ctrlKey || event.metaKey) && !event.altKey;
    if (isAccel && !event.shiftKey && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      event.stopPropagation();
      this._askUrl();
    }
  };

  private _setList(type: ListType): void {
    this._editor.update(() => {
      if (this._selected().list?.getListType() === type) {
        $removeList();
      } else {
        $insertList(type);
      }
    });
  }

  /** A field for the address of the link, in the bar; empty takes the link away. */
  private _askUrl(): void {
    const before = this._editor.read(
      () => this._selected().link?.getURL() ?? ''
    );
    const field = document.createElement('input');
    field.type = 'text';
    field.value = before;
    field.placeholder = 'https://… (empty: no link)';
    field.setAttribute('aria-label', 'Address of the link');
    const close = () => {
      this._url.hidden = true;
      this._url.replaceChildren();
      this._editor.focus();
    };
    const apply = () => {
      const typed = field.value.trim();
      const url = typed.startsWith('www.') ? `https://${typed}` : typed;
      if (url && !isLinkable(url)) {
        field.setCustomValidity('Give the address of a page, or of a file.');
        field.reportValidity();
        return;
      }
      close();
      this._editor.update(() => $toggleLink(url || null));
    };
    field.addEventListener('input', () => field.setCustomValidity(''));
    field.addEventListener('keydown', event => {
      if (event.key === 'Enter' || event.key === 'Escape') {
        event.preventDefault();
        event.stopPropagation();
        (event.key === 'Enter' ? apply : close)();
      }
    });
    this._url.replaceChildren(
      field,
      button('Apply', 'Set the address (Enter)', apply),
      button('Close', 'Leave the link as it is', close)
    );
    this._url.hidden = false;
    field.focus();
    field.select();
  }

  private _show(): void {
    const { formats, link, list } = this._editor.read(() => this._selected());
    for (const [format, shown] of this._formats) {
      press(shown, formats.has(format));
    }
    const type = list && this._editor.read(() => list.getListType());
    press(this._link, link !== null);
    press(this._bullets, type === 'bullet');
    press(this._numbers, type === 'number');
  }

  private _selected(): ISelected {
    const selection = $getSelection();
    if (!$isRangeSelection(selection)) {
      return { formats: new Set(), link: null, list: null };
    }
    const node = selection.anchor.getNode();
    return {
      formats: new Set(
        FORMATS.map(([format]) => format).filter(each =>
          selection.hasFormat(each)
        )
      ),
      link: $findMatchingParent(node, $isLinkNode),
      list: $findMatchingParent(node, $isListNode)
    };
  }

  private readonly _formats = new Map<TextFormatType, HTMLButtonElement>();
  private readonly _link: HTMLButtonElement;
  private readonly _bullets: HTMLButtonElement;
  private readonly _numbers: HTMLButtonElement;
  private readonly _url = document.createElement('div');
  private readonly _ends: (() => void)[];
}

function press(element: HTMLButtonElement, isPressed: boolean): void {
  element.setAttribute('aria-pressed', String(isPressed));
}
