import { StateEffect, StateEffectType } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { IDisposable } from '@lumino/disposable';
import { ISignal, Signal } from '@lumino/signaling';

import {
  beginMerge,
  dropHunks,
  growMerge,
  mergeExtension,
  mergeField,
  mergeIn,
  pointAt
} from './field';
import { lineFeeds } from '../lines';
import { IMergeState } from './state';
import { IHunk } from './hunks';

/** Where accepted hunks are written. */
export interface IWritable {
  /** Why nothing can be written now; null where it can. */
  obstacle(): string | null;
  /** Write hunks of `shown`, the editor's text. */
  write(hunks: readonly IHunk[], shown: string): void;
}

/**
 * A proposal shown as a diff in a live editor.
 *
 * The editor's text, and with it the shared document, is what it was: old lines are only marked, and
 * new ones are widgets between them. The user can go on typing; the hunks move along. Accepting
 * writes into the shared document.
 */
export class EditorMerge implements IDisposable {
  constructor(
    private readonly _view: EditorView,
    base: string,
    private readonly _document: IWritable
  ) {
    if (!_view.state.field(mergeField, false)) {
      _view.dispatch({ effects: StateEffect.appendConfig.of(mergeExtension) });
    }
    this._dispatch(beginMerge, {
      base: lineFeeds(base),
      actions: this._actions
    });
  }

  /** The ids of the hunks that were rejected: of the same two texts they are always the same. */
  get rejected(): readonly number[] {
    return this._rejected;
  }

  /** Whether any of it was accepted. */
  get hasAccepted(): boolean {
    return this._hasAccepted;
  }

  /** Its hunks have changed: more have come, one was decided, or the user typed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Something could not be accepted, for this reason. */
  get refused(): ISignal<this, string> {
    return this._refused;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get hunks(): readonly IHunk[] {
    return this._merge?.hunks ?? [];
  }

  /** The id of the hunk that the keys mean; -1 for none. */
  get current(): number {
    return this._merge?.current ?? -1;
  }

  /** End the proposal; what of it is not accepted is gone. */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    const isOurs = this._merge !== null;
    this._isDisposed = true;
    Signal.clearData(this);
    if (isOurs) {
      this._dispatch(beginMerge, null);
    }
  }

  /** The proposal as far as it has come. */
  show(proposed: string, isComplete: boolean): void {
    const text = lineFeeds(proposed);
    const base = this._merge?.base ?? '';
    const ending =
      isComplete && base.endsWith('\n') && !text.endsWith('\n') ? '\n' : '';
    this._dispatch(growMerge, { text: text + ending, isComplete });
  }

  /** Write these hunks into the document; they stay undecided where that cannot be written to. */
  accept(ids: readonly number[]): void {
    const accepted = this.hunks.filter(({ id }) => ids.includes(id));
    const obstacle = this._document.obstacle();
    if (accepted.length && obstacle) {
      this._refused.emit(obstacle);
    } else if (accepted.length) {
      this._hasAccepted = true;
      // First, so that what is written does not count as typed by the user.
      this._dispatch(dropHunks, ids);
      this._document.write(accepted, this._view.state.doc.toString());
    }
  }

  reject(ids: readonly number[]): void {
    this._rejected.push(...ids);
    this._dispatch(dropHunks, ids);
  }

  /** Point at a hunk, and bring it into view unless `isQuiet`. */
  point(id: number, isQuiet = false): void {
    this._dispatch(pointAt, id);
    const hunk = this.hunks.find(each => each.id === id);
    if (hunk && !isQuiet) {
      const { from, to } = this._view.viewport;
      if (hunk.from < from || hunk.from > to) {
        // So far off it is not drawn.
        this._view.dispatch({
          effects: EditorView.scrollIntoView(hunk.from, { y: 'center' })
        });
      }
      this._reveal(id);
      // What decides on it is about to be drawn above, and moves it.
      whenDrawn(() => this.current === id && this._reveal(id));
    }
  }

  /** Bring a hunk into view: the new lines, and above all where it begins. */
  private _reveal(id: number): void {
    const hunk = this.hunks.find(each => each.id === id);
    if (hunk) {
      const added = this._view.dom.querySelector('.da-added.da-mod-current');
      if (added) {
        // Of what is too high for it, the browser is content with the middle.
        const isHigh = added.clientHeight > window.innerHeight / 2;
        added.scrollIntoView({ block: isHigh ? 'start' : 'nearest' });
      }
      if (hunk.from < hunk.to) {
        const { node } = this._view.domAtPos(hunk.from);
        const element = node instanceof Element ? node : node.parentElement;
        // The line, which keeps clear of the box above; a word in it does not.
        const line = element?.closest('.cm-line') ?? element;
        line?.scrollIntoView({ block: 'nearest' });
      }
    }
  }

  /** The proposal, as long as it is this one's. */
  private get _merge(): IMergeState | null {
    const merge = this._isDisposed ? null : mergeIn(this._view.state);
    return merge?.actions === this._actions ? merge : null;
  }

  private _dispatch<T>(type: StateEffectType<T>, value: T): void {
    this._view.dispatch({ effects: type.of(value) });
  }

  private readonly _actions = {
    accept: (id: number): void => this.accept([id]),
    reject: (id: number): void => this.reject([id]),
    changed: (): void => {
      if (!this._isDisposed) {
        this._changed.emit();
      }
    }
  };
  private readonly _rejected: number[] = [];
  private _hasAccepted = false;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _refused = new Signal<this, string>(this);
}

/** After what was changed is on the screen. */
export function whenDrawn(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act));
}
