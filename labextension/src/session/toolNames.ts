/** A name in code as a label: `getNotebookCells` and `get-notebook-cells` as "Get notebook cells". */
export function spoken(name: string): string {
  const text = name
    .replace(/^datalayer_/, '')
    .replace(/[_-]+/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .trim()
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}
