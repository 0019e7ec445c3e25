/**
 * JSON as a user reads it: no quotes, a line for each value, text with several lines as such.
 */
export function pretty(value: unknown): string {
  return lines(parsed(value)).join('\n');
}

/** What a tool returned is often JSON in a text; of one that was cut at least the lines show. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) {
    return value;
  }
  try {
    return JSON.parse(value);
  } catch {
    return value.replace(/\\n/g, '\n').replace(/\\"/g, '"');
  }
}

function lines(value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.flatMap(item => prefixed('- ', lines(item)));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .filter(([, item]) => item !== undefined && item !== null)
      .flatMap(([key, item]) => pair(key, item));
  }
  return String(value).replace(/\n$/, '').split('\n');
}

function pair(key: string, value: unknown): string[] {
  const isNested = typeof value === 'object' && value !== null;
  const inner = lines(value);
  if (isNested && inner.length === 0) {
    return [`${key}: none`];
  }
  return isNested || inner.length > 1
    ? [`${key}:`, ...inner.map(line => `  ${line}`)]
    : [`${key}: ${inner[0]}`];
}

function prefixed(mark: string, text: string[]): string[] {
  const blank = ' '.repeat(mark.length);
  return text.map((line, index) => (index ? blank : mark) + line);
}
