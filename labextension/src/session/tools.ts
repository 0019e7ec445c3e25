/** Whether a tool of this name only reads. */
export function isRead(name: string): boolean {
  return /^(datalayer_)?(get|read|list|search)/i.test(name);
}
