import { Event } from '../api/types';
import { runningLabel } from '../session/labels';

/** The text of a turn's answer as it comes in: its items in order, without those reverted. */
export class AnswerText {
  /** Take up an event; true where the text is another one now. */
  apply(event: Event): boolean {
    switch (event.type) {
      case 'text_delta':
        this._items.set(
          event.itemId,
          (this._items.get(event.itemId) ?? '') + event.delta
        );
        return true;
      case 'item_discarded':
        return this._items.delete(event.itemId);
      case 'final_reply':
        if (!this.text.trim() && event.text) {
          this._items.set('final', event.text);
          return true;
        }
        return false;
      default:
        return false;
    }
  }

  get text(): string {
    return [...this._items.values()].filter(Boolean).join('\n\n');
  }

  /** Its last words, without what was said before a tool was called. */
  get last(): string {
    return [...this._items.values()].filter(each => each.trim()).pop() ?? '';
  }

  private readonly _items = new Map<string, string>();
}

/** What the assistant does, in a word or two; null for an event that says nothing of it. */
export function activityOf(event: Event): string | null {
  switch (event.type) {
    case 'op_queued':
      return 'Waiting for the previous answer';
    case 'turn_started':
      return 'Thinking';
    case 'model_started':
      return event.attempt > 1 ? `Trying again, ${event.attempt}` : 'Thinking';
    case 'reasoning_delta':
      return 'Thinking';
    case 'text_delta':
      return 'Writing';
    case 'tool_call_started':
      return runningLabel(event, () => null);
    case 'tool_call_output':
      return 'Thinking';
    case 'status':
      return event.message;
    default:
      return null;
  }
}
