/**
 * The word with which a message begins that looks like a command, as the server reads it. A path
 * (`/data/cars.csv`) is none.
 */
export function commandIn(message: string): string | null {
  return /^\s*(\/[a-z][\w-]*)(?=[,:]?(\s|$))/i.exec(message)?.[1] ?? null;
}
