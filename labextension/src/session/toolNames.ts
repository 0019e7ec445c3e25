/** `getNotebookCells` as "Get notebook cells": a tool that declares no label. */
export function spoken(name: string): string {
  const words = name
    .replace(/^datalayer_/, '')
    .replace(/_/g, ' ')
    .replace(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b}`)
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
