import { ISignal } from '@lumino/signaling';

/** The kernel of a notebook, as far as the page knows it. */
export interface IKernelState {
  name: string;
  status: string;
}

/** A cell as it is named to a user: its number from 1 and its first line. */
export interface ICellLabel {
  number: number;
  firstLine: string;
}

/** A cell in a list of a notebook's cells. */
export interface IListedCell extends ICellLabel {
  cellId: string;
  hasOutput: boolean;
}

/** A cell with what it shows, as nbformat has it. */
export interface ICellContent {
  type: 'code' | 'markdown';
  content: string;
  outputs: Record<string, unknown>[];
}

/** The error that a cell shows; `text` is its words with the code that it is about. */
export interface INotebookError {
  number: number;
  name: string;
  cellId: string;
  text: string;
}

/** What in a notebook is worth a suggestion. */
export interface INotebookHints {
  isEmpty: boolean;
  /** The first cells that show an error. */
  errors?: readonly INotebookError[];
  /** A data frame that was loaded and not looked at since. */
  frame?: string;
}

/** What in a Lexical document is worth a suggestion. */
export interface ILexicalHints {
  isEmpty: boolean;
  /** The name of the first error that a block shows. */
  error?: string;
}

/** What the panel knows of the documents that are open in the page. */
export interface IEditor {
  /** The notebook whose editor is the active one. */
  readonly activeNotebook: string | null;
  /** The notebook or Lexical document whose editor is the active one. */
  readonly activeDocument: string | null;
  /** Paths of the notebooks that are open. */
  readonly openNotebooks: readonly string[];
  /** Another notebook is active, or its kernel has another state. */
  readonly changed: ISignal<IEditor, void>;
  /** A cell ended without error, whoever ran it. */
  readonly ran: ISignal<IEditor, { path: string; cellId: string }>;
  /** A cell that the user ran ended with an error, or was stopped. */
  readonly failed: ISignal<IEditor, { path: string; cellId: string }>;
  kernel(path: string): IKernelState | null;
  cell(path: string, cellId: string): ICellLabel | null;
  /** How many cells an open notebook has; null until it has loaded. */
  cellCount(path: string): number | null;
  /** The cells of an open notebook, in their order; none until it has loaded. */
  listCells(path: string): readonly IListedCell[];
  /** The cell of an open notebook in which an element of the page stands. */
  cellAt(node: Node): { path: string; cellId: string } | null;
  hints(path: string): INotebookHints;
  lexicalHints(path: string): ILexicalHints;
  /** The error that a cell shows now; one that the user interrupted shows none. */
  errorOf(path: string, cellId: string): INotebookError | null;
  /** Go to the document and, in a notebook, to the cell. */
  reveal(path: string, cellId?: string): Promise<void>;
  /** Open the first of these files or folders that is there; false where none is. */
  openFirst(paths: readonly string[]): Promise<boolean>;
  /**
   * Scroll a cell of the active notebook into view, unless the user works in it, scrolled it
   * `since` (in ms since 1970; left out, that does not matter), or wants none of it.
   */
  follow(path: string, cellId: string, since?: number): Promise<void>;
  /** The code cell of a tutorial's lesson in an open notebook. */
  lessonCell(path: string, lesson: number): string | null;
  /** Data files under the root, those near the active notebook first. */
  dataFiles(): Promise<string[]>;
  /** The open notebook, other than `scratchpad.ipynb`, that the user uses as a scratchpad. */
  readonly markedScratchpad: string | null;
  /** Show a document; one that is not open yet beside the active one. */
  openBeside(path: string): Promise<void>;
  /** A cell of an open notebook as it is now, with its outputs; null where it is not there. */
  cellContent(path: string, cellId: string): ICellContent | null;
  /** Save a notebook, given as JSON, under a name that is free, and open it; its path. */
  openNew(name: string, content: string): Promise<string>;
  /** Let the user choose files; their paths. */
  chooseFiles(): Promise<string[]>;
}
