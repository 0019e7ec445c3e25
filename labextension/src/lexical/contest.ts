import { button } from './elements';

/** What a block has become while the user edited it, and the user's choice between both texts. */
export class Contest {
  constructor(
    /** The other version as it is shown; null where the block was deleted. */
    other: HTMLElement | null,
    keep: () => unknown,
    use: () => unknown
  ) {
    this.node.className = 'da-lex-contest';
    this.node.dataset.testid = 'da-lexical-contest';
    this.node.setAttribute('role', 'alert');
    const title = document.createElement('strong');
    title.textContent = other
      ? 'The agent, or another program, changed this block while you edited it:'
      : 'The agent, or another program, deleted this block while you edited it.';
    this.node.append(title);
    if (other) {
      const shown = document.createElement('div');
      shown.className = 'da-lex-other';
      shown.append(other);
      this.node.append(shown);
    }
    const bar = document.createElement('div');
    bar.className = 'da-lex-editing';
    this._keep = button(
      'Keep Mine',
      'Save your text in place of the other version',
      keep
    );
    bar.append(
      this._keep,
      button(
        other ? "Use the Agent's" : 'Leave It Deleted',
        'Close the editor, and leave the block as it is now',
        use
      )
    );
    this.node.append(bar);
  }

  readonly node = document.createElement('div');

  focus(): void {
    this._keep.focus();
  }

  private readonly _keep: HTMLButtonElement;
}
