/** "0.4 s", "12 s", "2 min 5 s". */
export function formatDuration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) {
    return `${Math.max(0.1, seconds).toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  return whole < 60
    ? `${whole} s`
    : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** "950", "12.4k", "1.2M". */
export function countShort(count: number): string {
  if (count < 1000) {
    return String(count);
  }
  const [value, unit] =
    count < 999_500 ? [count / 1000, 'k'] : [count / 1e6, 'M'];
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}
