import { UsageBy, UsageRow } from '../../api/types';

/** `1234` as `1,234`; from 10,000 on shorter: `12.3k`, `4.5M`. */
export function formatCount(count: number): string {
  if (count < 10_000) {
    return count.toLocaleString('en');
  }
  const [value, unit] = count < 1e6 ? [count / 1e3, 'k'] : [count / 1e6, 'M'];
  return `${value < 100 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** A time as `4 s`, `12 min` or `3.5 h`. */
export function formatTime(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 60) {
    return `${seconds < 10 && seconds > 0 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  }
  const minutes = seconds / 60;
  return minutes < 90
    ? `${Math.round(minutes)} min`
    : `${(minutes / 60).toFixed(1)} h`;
}

/** A cost in dollars, two figures of it at least: `$0.0042`, `$12.30`. Nothing where none is known. */
export function formatRowCost({ cost, pricedCalls }: UsageRow): string {
  if (!pricedCalls || cost === undefined) {
    return '–';
  }
  const digits = cost > 0 && cost < 0.1 ? 4 : 2;
  return cost > 0 && cost < 0.0001 ? '<$0.0001' : `$${cost.toFixed(digits)}`;
}

/** "cost known for 3 of 5 calls", where it is unknown for all. */
export function pricingNote(row: UsageRow): string | null {
  const { modelCalls, pricedCalls } = row;
  if (!modelCalls || pricedCalls === modelCalls) {
    return null;
  }
  return pricedCalls
    ? `Cost known for ${pricedCalls} of ${modelCalls} model calls.`
    : 'No pricing available for this model.';
}

/** What a row is of, for a user. */
export function rowLabel(by: UsageBy, { key, label }: UsageRow): string {
  switch (by) {
    case 'day':
      return formatDay(key);
    case 'model':
      return key.split('/').pop() || 'Without a model';
    default:
      return label || 'Untitled session';
  }
}

/** `2026-11-22` as `Sun 22 Nov`. */
export function formatDay(day: string): string {
  const [year, month, date] = day.split('-').map(Number);
  const at = new Date(year, month - 1, date);
  const text = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short'
  });
  return text.format(at).replace(',', '');
}
