import type { ICell, IOutput } from '@jupyterlab/nbformat';

import type { Change, ChangesReply } from '../api/types';
import { KEY } from '../notebook/agentMark';
import { DiffKind, IPair } from '../diff/pair';
import { changeCountLabel, mergeChanges } from '../session/changes';

/** A cell before and after a turn. */
export interface ICellDiff {
  cellId: string;
  kind: DiffKind;
  /** Its number from 1. */
  number?: number;
  /** The number is the one that the turn left it, or found it, with: it is not there now. */
  isThen?: boolean;
  cellType?: string;
  /** The first line of its source that says something. */
  firstLine: string;
  /** Undefined where the source is the same. */
  source?: IPair;
  /** Before the turn and now; undefined where they are the same, or not known any more. */
  outputs?: IPair;
  metadata?: IPair;
  state: 'open' | 'kept' | 'undone';
}

/** What a turn changed in a document. */
export interface IDocumentDiff {
  path: string;
  isNew: boolean;
  /** Of the sources of its code cells, or of the file; undefined where it is not known. */
  mimeType?: string;
  cells: readonly ICellDiff[];
  /** The text of a file, and what was decided about it. */
  text?: IPair;
  state?: ICellDiff['state'];
}

/** The cells of a notebook as they are now, by id. */
export type CellsNow = ReadonlyMap<string, ICell>;

const KINDS: Partial<Record<Change['op'], DiffKind>> = {
  insert: 'added',
  delete: 'removed',
  move: 'moved'
};

/** A turn's changes by document and cell; `now` has the notebooks that could be read. */
export function turnDiff(
  { changes, states, before }: ChangesReply,
  now: ReadonlyMap<string, CellsNow>
): IDocumentDiff[] {
  const stateOf = new Map<string, ICellDiff['state']>();
  changes.forEach((change, i) =>
    stateOf.set(keyOf(change.path, change.cellId), states?.[i] ?? 'kept')
  );
  const were = new Map(
    before?.map(each => [keyOf(each.path, each.cellId), each.cell])
  );
  const merged = mergeChanges(changes);
  const paths = new Set([
    ...merged.map(({ path }) => path),
    ...(before ?? []).map(({ path }) => path)
  ]);
  return [...paths].map(path => {
    const here = merged.filter(change => change.path === path);
    const file = here.find(({ cellId }) => !cellId);
    const cells = here.flatMap(change => {
      const { cellId } = change;
      if (!cellId) {
        return [];
      }
      const key = keyOf(path, cellId);
      const rest = restOf(
        were.get(key) as unknown as ICell | undefined,
        now.get(path)?.get(cellId)
      );
      const diff = cellDiff(change, cellId, stateOf.get(key) ?? 'kept', rest);
      const place = [...(now.get(path)?.keys() ?? [])].indexOf(cellId);
      return [
        place < 0
          ? { ...diff, isThen: diff.number !== undefined }
          : { ...diff, number: place + 1 }
      ];
    });
    const known = new Set(cells.map(({ cellId }) => cellId));
    return {
      path,
      isNew: file?.op === 'create',
      cells: [...cells, ...ranIn(path, before, now.get(path), known)].sort(
        (a, b) => (a.number ?? Infinity) - (b.number ?? Infinity)
      ),
      text: file && pairOf(file.before ?? '', file.after ?? ''),
      state: file && (stateOf.get(keyOf(path)) ?? 'kept')
    };
  });
}

/** "2 changed, 1 added, 1 file changed"; empty where nothing is. */
export function countKinds(documents: readonly IDocumentDiff[]): string {
  const kinds: DiffKind[] = ['changed', 'added', 'removed', 'moved', 'ran'];
  const cells = documents.flatMap(each => each.cells);
  const files = documents.filter(each => each.text && !each.cells.length);
  return [
    ...kinds
      .map(kind => [kind, cells.filter(each => each.kind === kind).length])
      .filter(([, count]) => count)
      .map(([kind, count]) => `${count} ${kind === 'ran' ? 'only run' : kind}`),
    ...(files.length ? [changeCountLabel(files)] : [])
  ].join(', ');
}

/** Outputs as a user reads them in a diff: text as it is, pictures by type and size. */
export function outputsText(cell: ICell): string {
  const outputs = (cell.outputs ?? []) as IOutput[];
  return outputs.map(outputText).join('\n');
}

function cellDiff(
  { op, index, cellType, before, after }: Change,
  cellId: string,
  state: ICellDiff['state'],
  rest: Pick<ICellDiff, 'outputs' | 'metadata'>
): ICellDiff {
  return {
    cellId,
    kind: KINDS[op] ?? 'changed',
    number: index === undefined ? undefined : index + 1,
    cellType,
    firstLine: firstLineOf(after ?? before ?? ''),
    source: pairOf(before ?? '', after ?? ''),
    state,
    ...rest
  };
}

/** Cells that the turn did not change, and that show something else since it ran them. */
function ranIn(
  path: string,
  before: ChangesReply['before'],
  now: CellsNow | undefined,
  known: ReadonlySet<string>
): ICellDiff[] {
  const order = now ? [...now.keys()] : [];
  return (before ?? []).flatMap(each => {
    const cell = now?.get(each.cellId);
    if (each.path !== path || known.has(each.cellId) || !each.cell || !cell) {
      return [];
    }
    const rest = restOf(each.cell as unknown as ICell, cell);
    const number = order.indexOf(each.cellId) + 1;
    return rest.outputs || rest.metadata
      ? [
          {
            cellId: each.cellId,
            kind: 'ran',
            number,
            firstLine: firstLineOf(joined(cell.source)),
            state: 'open',
            ...rest
          }
        ]
      : [];
  });
}

function restOf(
  before: ICell | undefined,
  after: ICell | undefined
): Pick<ICellDiff, 'outputs' | 'metadata'> {
  if (!before) {
    return {};
  }
  // Of a cell that is gone, all that it showed is gone.
  const [outputs, metadata] = after
    ? [outputsText(after), metadataText(after)]
    : ['', ''];
  return {
    outputs: pairOf(outputsText(before), outputs),
    metadata: pairOf(metadataText(before), metadata)
  };
}

/** JupyterLab's own, times of runs, and our own mark say nothing about what was changed. */
function metadataText({ metadata }: ICell): string {
  const { trusted: _, execution: __, [KEY]: ___, ...rest } = metadata ?? {};
  return Object.keys(rest).length ? JSON.stringify(rest, null, 2) : '';
}

function outputText(output: IOutput): string {
  if (output.output_type === 'stream') {
    return joined(output.text);
  }
  if (output.output_type === 'error') {
    return `${String(output.ename)}: ${String(output.evalue)}`;
  }
  const data = (output.data ?? {}) as Record<string, unknown>;
  const others = Object.entries(data)
    .filter(([type]) => type.startsWith('image/'))
    .map(
      ([type, value]) => `[${type}, ${kilobytes(joined(value).length * 0.75)}]`
    );
  const text = data['text/plain'];
  return [...(text === undefined ? [] : [joined(text)]), ...others].join('\n');
}

function firstLineOf(source: string): string {
  return source.split('\n').find(line => line.trim()) ?? '';
}

function joined(text: unknown): string {
  return (Array.isArray(text) ? text.join('') : String(text)).replace(
    /\n$/,
    ''
  );
}

function kilobytes(bytes: number): string {
  return `${Math.max(1, Math.round(bytes / 1000))} kB`;
}

function pairOf(before: string, after: string): IPair | undefined {
  return before === after ? undefined : { before, after };
}

function keyOf(path: string, cellId = ''): string {
  return `${path}\n${cellId}`;
}
