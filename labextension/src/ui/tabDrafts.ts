/**
 * What is typed and not sent yet, in this tab alone, over a reload: one text for each id. What has more
 * than the browser keeps stays where it is typed, and would not survive a reload.
 */
export class TabDrafts {
  constructor(
    private readonly _prefix: string,
    private readonly _tab: Storage = window.sessionStorage
  ) {}

  /** Empty where there is none. */
  load(id: string): string {
    return this._tab.getItem(this._prefix + id) ?? '';
  }

  /** Keep a text in place of the one before; an empty one is forgotten. */
  save(id: string, text: string): void {
    const key = this._prefix + id;
    try {
      if (text) {
        this._tab.setItem(key, text);
      } else {
        this._tab.removeItem(key);
      }
    } catch (error) {
      console.warn('datalayer-agent: the draft was not kept', error);
    }
  }
}
