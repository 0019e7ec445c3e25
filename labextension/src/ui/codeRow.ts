import {
  addAboveIcon,
  addBelowIcon,
  checkIcon,
  editIcon,
  LabIcon
} from '@jupyterlab/ui-components';

/** What can be done with a code block of an answer, beside copying it. */
export type CodeActionKind = 'apply' | 'above' | 'below' | 'replace';

/** One thing that can be done with a block, or why it cannot. */
export interface ICodeAction {
  act: CodeActionKind;
  /** A label that names the target: "Insert below cell 3 of cars.ipynb". */
  label: string;
  /** Why it cannot be done; null where it can. */
  reason: string | null;
  /** The document that it is done in. */
  path: string;
  /** The cell that it is about; none in a file. */
  cellId?: string;
}

/** What can be done with a block, and what it is meant for, in a word or two. */
export interface ICodeActions {
  title: string;
  actions: readonly ICodeAction[];
}

const ICONS: Record<Exclude<CodeActionKind, 'apply'>, LabIcon> = {
  above: addAboveIcon,
  below: addBelowIcon,
  replace: editIcon
};

/** How long a button says that it has done it, in ms. */
const DONE_MS = 1500;

/** The line under a code block: what the block is for, and what can be done with it. */
export class CodeRow {
  constructor(
    /** Does it; a label of what was done, or null where nothing was. */
    private readonly _run: (act: CodeActionKind) => Promise<string | null>
  ) {
    this.node = document.createElement('div');
    this.node.className = 'da-code-row';
    this._title.className = 'da-code-title';
    this._status.className = 'da-hidden';
    this._status.setAttribute('role', 'status');
    this._tools.className = 'da-code-tools';
    this._tools.setAttribute('role', 'toolbar');
    this._tools.setAttribute('aria-label', 'Code');
    this._tools.addEventListener('keydown', event => this._onKey(event));
    this.node.append(this._title, this._tools, this._status);
  }

  readonly node: HTMLElement;

  /** Add a button that does not depend on where the code can go. */
  add(
    icon: LabIcon,
    title: string,
    label: string,
    act: () => Promise<string | null>
  ): void {
    const button = this._button(title, label, icon);
    button.addEventListener('click', () => void this._do(button, icon, act));
    this._tools.append(button);
    this._stopAt(this._buttons[0]);
  }

  /** Show what can be done now. */
  update({ title, actions }: ICodeActions): void {
    if (this._title.textContent !== title) {
      this._title.textContent = title;
      this._title.title = title;
    }
    for (const { act, label, reason } of actions) {
      const button = this._acts.get(act) ?? this._addAct(act);
      const title = reason ? `${label}: ${reason}` : label;
      if (button.title !== title) {
        button.title = title;
        button.setAttribute('aria-label', title);
        button.setAttribute('aria-disabled', String(reason !== null));
      }
    }
  }

  private _addAct(act: CodeActionKind): HTMLButtonElement {
    const icon = act === 'apply' ? null : ICONS[act];
    const button = this._button('', '', icon);
    button.dataset.testid = `da-code-${act}`;
    if (!icon) {
      button.classList.add('da-mod-text');
      button.textContent = 'Apply';
    }
    button.addEventListener('click', () => {
      if (button.getAttribute('aria-disabled') !== 'true') {
        void this._do(button, icon, () => this._run(act));
      }
    });
    // In the order in which they are named, before what is always there.
    const [last] = [...this._acts.values()].slice(-1);
    if (last) {
      last.after(button);
    } else {
      this._tools.prepend(button);
    }
    this._acts.set(act, button);
    this._stopAt(this._buttons[0]);
    return button;
  }

  /** Do it and report it, for those who see and those who hear. */
  private async _do(
    button: HTMLButtonElement,
    icon: LabIcon | null,
    act: () => Promise<string | null>
  ): Promise<void> {
    const done = await act();
    if (done === null) {
      return;
    }
    this._status.textContent = done;
    if (icon) {
      draw(button, checkIcon);
    }
    setTimeout(() => {
      this._status.textContent = '';
      if (icon) {
        draw(button, icon);
      }
    }, DONE_MS);
  }

  private _button(
    title: string,
    label: string,
    icon: LabIcon | null
  ): HTMLButtonElement {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'da-copy';
    button.title = title;
    button.setAttribute('aria-label', label);
    if (icon) {
      draw(button, icon);
    }
    return button;
  }

  private get _buttons(): HTMLButtonElement[] {
    return [...this._tools.querySelectorAll('button')];
  }

  /** A toolbar is one stop of the Tab key. */
  private _stopAt(stop: HTMLButtonElement): void {
    this._buttons.forEach(each => (each.tabIndex = each === stop ? 0 : -1));
  }

  /** The arrows go from button to button. */
  private _onKey(event: KeyboardEvent): void {
    const all = this._buttons;
    const at = all.findIndex(each => each === document.activeElement);
    const next = {
      ArrowRight: all[(at + 1) % all.length],
      ArrowLeft: all[(at - 1 + all.length) % all.length],
      Home: all[0],
      End: all[all.length - 1]
    }[event.key];
    if (next) {
      event.preventDefault();
      this._stopAt(next);
      next.focus();
    }
  }

  private readonly _title = document.createElement('span');
  private readonly _tools = document.createElement('span');
  private readonly _status = document.createElement('span');
  private readonly _acts = new Map<CodeActionKind, HTMLButtonElement>();
}

function draw(button: HTMLButtonElement, icon: LabIcon): void {
  icon.element({ container: button, width: '14px', height: '14px' });
}
