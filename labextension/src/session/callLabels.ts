import { changeLabel } from './changes';
import { spoken } from './toolNames';
import { IToolEntry } from './turn';

/** How a cell is named to a user, from its notebook and id; null where it is not there. */
export type CellNumber = (
  path: string | undefined,
  id: string
) => number | null;

/** The part of a tool call that labels are made of. */
export type ICall = Pick<IToolEntry, 'name' | 'label' | 'arguments'>;

/** What a tool call does, or did, as a label; what it did, as the server has it. */
export function toolLabel(call: IToolEntry, cellNumber: CellNumber): string {
  switch (call.status) {
    case 'running':
      return runningLabel(call, cellNumber);
    case 'denied':
      return `${approvalLabel(call, cellNumber)}: declined`;
    case 'aborted':
      return `${approvalLabel(call, cellNumber)}: stopped`;
    case 'error':
      return call.summary ?? `${approvalLabel(call, cellNumber)}: failed`;
    case 'ok':
      return call.summary ?? madeLabel(call, cellNumber);
  }
}

function madeLabel(call: IToolEntry, cellNumber: CellNumber): string {
  return call.changes.length === 1
    ? changeLabel(call.changes[0])
    : approvalLabel(call, cellNumber);
}

/** "Running cell 5", while it runs. */
export function runningLabel(call: ICall, cellNumber: CellNumber): string {
  return withCells(call, call.label?.activity, cellNumber);
}

/** "Run cell 5", as a thing to be allowed. */
export function approvalLabel(call: ICall, cellNumber: CellNumber): string {
  return withCells(call, call.label?.action, cellNumber);
}

/** What the tool declares, with the numbers of the cells, or the file, that the arguments name. */
function withCells(
  { name, arguments: given }: ICall,
  label: string | undefined,
  cellNumber: CellNumber
): string {
  const args = asRecord(given);
  const path = typeof args.path === 'string' ? args.path : undefined;
  const ids = cellIds(args);
  const text = label ?? spoken(name);
  return ids.length
    ? text.replace(
        /\b(a cell|cells)$/,
        numberedCellLabel(ids, id => cellNumber(path, id))
      )
    : text.replace(/\ba file$/, found => path ?? found);
}

/** "cell 4", "cells 4, 5", "3 cells" where their numbers are not known. */
function numberedCellLabel(
  ids: string[],
  number: (id: string) => number | null
): string {
  const numbers = ids.map(number);
  if (ids.length > 4 || numbers.some(n => n === null)) {
    return ids.length === 1 ? 'a cell' : `${ids.length} cells`;
  }
  return `${ids.length === 1 ? 'cell' : 'cells'} ${numbers.join(', ')}`;
}

function cellIds(args: Record<string, unknown>): string[] {
  const many = args.cellIds ?? args.cell_ids;
  const one = args.cellId ?? args.cell_id;
  const ids = Array.isArray(many) ? many : [one];
  return ids.filter((id): id is string => typeof id === 'string');
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
