import { PathExt } from '@jupyterlab/coreutils';

import {
  Attachment,
  Dataset,
  Mode,
  ToolListing,
  VariablesReply
} from '../../../api/types';
import { ComposerState } from '../composerState';
import { IEditor, IListedCell } from '../../../notebook/editor';
import { IPanelClient } from '../../../api/services';

/** How long a list of the server's is good for, in ms. */
const FRESH = 5000;

/** Something that can be referred to with `@`. */
export interface IReference {
  kind: Attachment['kind'] | 'folder' | 'note';
  /** The text of the message after the `@`. */
  mention: string;
  /** By what else it is found. */
  label: string;
  description?: string;
  /** What is attached; nothing for what only leads on. */
  attachment?: Attachment;
}

/** What a message can refer to: tools, and what is in the active notebook and its kernel. */
export class References {
  constructor(
    private readonly _client: IPanelClient,
    private readonly _editor: IEditor,
    private readonly _composerState: ComposerState
  ) {}

  /** What was chosen from the list, and so was attached when it was typed. */
  readonly completed = new Set<string>();

  /** Whether there is a file, or a folder, of this path; null where that cannot be known. */
  isThere: (path: string) => Promise<boolean | null> = async () => null;

  /** The active notebook. */
  get notebook(): string | null {
    return this._editor.activeNotebook;
  }

  /** Every tool, with whether it can be used with the next message. */
  async tools(): Promise<readonly ToolListing[]> {
    const { mode } = this._composerState.current;
    const path = this._editor.activeNotebook ?? undefined;
    const attached = path ? this._composerState.hasNotebook(path) : undefined;
    return this._tools.get(JSON.stringify([mode, path, attached]), async () => {
      const options = { mode, path, attached, location: 'panel' as const };
      return (await this._client.listTools(options)).tools;
    });
  }

  /** All that is no file: cells, outputs, variables, data sets, open notebooks. */
  async all(): Promise<IReference[]> {
    const [variables, datasets] = await Promise.all([
      this.variables(),
      this.datasets()
    ]);
    return [
      ...this.notebooks(),
      ...this.cells(),
      ...variables,
      ...datasets,
      ...this.outputs()
    ];
  }

  /** The data sets; none where they cannot be listed now. */
  async datasets(): Promise<IReference[]> {
    const listed = await this._datasets
      .get('', async () => (await this._client.listDatasets()).datasets)
      .catch(() => []);
    return listed.map(datasetReference);
  }

  /** The notebooks that are open, first the active one. */
  notebooks(): IReference[] {
    const { activeNotebook, openNotebooks } = this._editor;
    const others = openNotebooks.filter(path => path !== activeNotebook);
    const first = openNotebooks.filter(path => path === activeNotebook);
    return [...first, ...others].map(path => ({
      kind: 'notebook',
      mention: path,
      label: PathExt.basename(path),
      description: path === activeNotebook ? 'active' : 'open',
      attachment: { kind: 'notebook', path }
    }));
  }

  /** The cells of the active notebook, by number and first line. */
  cells(): IReference[] {
    return this._ofCells('cell', () => true);
  }

  /** The outputs of the active notebook. */
  outputs(): IReference[] {
    return this._ofCells('output', cell => cell.hasOutput);
  }

  /**
   * The variables of the kernel of the active notebook, or why they are unknown; with `isNow`,
   * not as they were a moment ago.
   */
  async variables(isNow = false): Promise<IReference[]> {
    const path = this._editor.activeNotebook;
    if (!path) {
      return [];
    }
    if (isNow) {
      this._variables.forget();
    }
    try {
      const reply = await this._variables.get(path, () =>
        this._client.variables(path)
      );
      return variableReferences(path, reply);
    } catch {
      return [note('Kernel variables are not available')];
    }
  }

  /**
   * A variable by its name; null where the kernel has none of that name. Where that cannot be known
   * now, the server will say what there is to say.
   */
  async variable(path: string, name: string): Promise<Attachment | null> {
    const reply = await this._client.variables(path).catch(() => null);
    const isMissing =
      reply?.status === 'no_kernel' ||
      (reply?.status === 'ok' &&
        !reply.leftOut &&
        !reply.variables.some(each => each.name === name));
    return isMissing ? null : { kind: 'variable', path, name };
  }

  private _ofCells(
    kind: 'cell' | 'output',
    isMeant: (cell: IListedCell) => boolean
  ): IReference[] {
    const path = this._editor.activeNotebook;
    return path
      ? this._editor
          .listCells(path)
          .filter(isMeant)
          .map(({ cellId, number, firstLine }) => ({
            kind,
            mention: `${kind}:${number}`,
            label: firstLine,
            description:
              (kind === 'output' ? `of cell ${number}: ` : '') +
              (firstLine || '(empty)'),
            attachment: { kind, path, cellId }
          }))
      : [];
  }

  private readonly _tools = new Fresh<readonly ToolListing[]>(FRESH);
  private readonly _datasets = new Fresh<readonly Dataset[]>(FRESH);
  // A cell that is run may change them at once; this is for what is typed in one go.
  private readonly _variables = new Fresh<VariablesReply>(FRESH / 2);
}

/** The newest answer to a question, for as long as it is good. */
class Fresh<T> {
  constructor(private readonly _ms: number) {}

  get(key: string, ask: () => Promise<T>): Promise<T> {
    if (this._key !== key || Date.now() - this._at > this._ms) {
      this._key = key;
      this._at = Date.now();
      const answer = ask();
      answer.catch(() => (this._key = null));
      this._answer = answer;
    }
    return this._answer!;
  }

  forget(): void {
    this._key = null;
  }

  private _key: string | null = null;
  private _at = 0;
  private _answer: Promise<T> | null = null;
}

/** Why a tool cannot be used now, for people: the server's reason is written for the model. */
export function unavailableReason(
  { changes, group }: ToolListing,
  mode: Mode
): string {
  if (changes && mode !== 'agent') {
    return 'Agent mode only';
  }
  return group === 'notebook'
    ? 'needs an attached, active notebook'
    : 'not available';
}

/** The tools that a message names with `#`, as they are called. */
export function toolsIn(message: string): string[] {
  return [
    ...new Set(
      [...message.matchAll(/(?:^|\s)#([A-Za-z_][\w-]*)/g)].map(
        ([, name]) => name
      )
    )
  ];
}

/** What a text mentions with `@`; `isWhole`: only what a blank follows. */
export function mentionsIn(text: string, isWhole: boolean): string[] {
  const found = isWhole
    ? text.matchAll(/(?:^|(?<!\\)\s)@((?:\\\s|[^\s\\]|\\(?!\s))+)(?=\s)/g)
    : text.matchAll(/(?:^|(?<!\\)\s)@((?:\\\s|\S)+)/g);
  return [...found].map(([, word]) =>
    word.replace(/\\ /g, ' ').replace(/(?<![.,;!?])[.,;!?]+$/, '')
  );
}

/** How many of a kind are shown before anything is typed, in this order. */
const FIRST: Record<IReference['kind'], number> = {
  notebook: 4,
  cell: 5,
  variable: 5,
  note: 1,
  dataset: 4,
  file: 6,
  output: 3,
  folder: 6
};
const KINDS = Object.keys(FIRST);
const MOST = 30;

/** Those that fit what was typed after the `@`, the likeliest first. */
export function matching(
  references: readonly IReference[],
  typed: string
): IReference[] {
  const wanted = typed.toLowerCase();
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  return references
    .map((reference, index) => ({
      reference,
      index,
      fit: fit(reference, wanted)
    }))
    .filter(({ reference, fit }) => {
      const isNew = fit !== null && !seen.has(reference.mention);
      seen.add(reference.mention);
      return isNew;
    })
    .sort(
      (a, b) =>
        a.fit! - b.fit! ||
        KINDS.indexOf(a.reference.kind) - KINDS.indexOf(b.reference.kind) ||
        a.index - b.index
    )
    .map(({ reference }) => reference)
    .filter(({ kind }) => {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      return wanted || count <= FIRST[kind];
    })
    .slice(0, MOST);
}

/** 0: it begins so, 1: it has that in it, null: it is another. */
function fit(
  { kind, mention, label }: IReference,
  wanted: string
): number | null {
  const name = mention.toLowerCase();
  if (name.startsWith(wanted)) {
    return 0;
  }
  if (kind === 'note') {
    return null;
  }
  const other = label.toLowerCase();
  // Of a name behind its kind, `var:cars`, the name itself counts.
  const bare = name.slice(name.indexOf(':') + 1);
  if (
    bare.startsWith(wanted) ||
    (kind !== 'cell' && other.startsWith(wanted))
  ) {
    return 0;
  }
  return name.includes(wanted) || other.includes(wanted) ? 1 : null;
}

function variableReferences(
  path: string,
  { status, reason, variables }: VariablesReply
): IReference[] {
  if (status !== 'ok') {
    return status === 'no_kernel' ? [] : [note(reason ?? 'not available')];
  }
  return variables.map(({ name, type, short, shape }) => ({
    kind: 'variable',
    mention: `var:${name}`,
    label: name,
    description: [type, shape?.join(' × '), short].filter(Boolean).join(' · '),
    attachment: { kind: 'variable', path, name }
  }));
}

function datasetReference({ name, rows, source }: Dataset): IReference {
  return {
    kind: 'dataset',
    mention: `data:${name}`,
    label: name,
    description: `data set · ${rows.toLocaleString('en')} rows · ${source}`,
    attachment: { kind: 'dataset', name }
  };
}

/** A line that only says something, where variables would stand. */
function note(description: string): IReference {
  return { kind: 'note', mention: 'var:', label: '', description };
}
