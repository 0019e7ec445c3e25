import { NotebookPanel } from '@jupyterlab/notebook';
import { Contents } from '@jupyterlab/services';
import { CommandRegistry } from '@lumino/commands';

import {
  AllowParams,
  DeleteDocumentParams,
  DocumentReadParams,
  DocumentText,
  EditParams,
  ExecuteCommandParams,
  InterruptParams,
  KernelParams,
  OpenParams,
  PageMethod,
  PageNotebook,
  PageRequest,
  ReadParams,
  RevealParams,
  RunParams,
  RunResult,
  WriteTextParams
} from '../api';
import { CellReader, indicesOf, sharedNotebook } from '../notebook/cells';
import { Documents } from '../notebook/documents';
import { applyEdits } from '../notebook/edits/edit';
import { hashSource } from '../notebook/edits/hash';
import { selectKernel } from '../notebook/kernel/kernel';
import { NotebookReloader } from '../notebook/reload';
import { Saver } from '../notebook/save';
import { writeText } from '../notebook/writeText';
import { executeCommand } from './commands';
import { Progress, Runner } from './run';

/** The parts that the methods act with. */
export interface IParts {
  commands: CommandRegistry;
  documents: Documents;
  contents: Contents.IManager;
  reloader: NotebookReloader;
  reader: CellReader;
  runner: Runner;
  saver: Saver;
}

/** What each request says, and what it is answered with. */
interface IMethods {
  'notebook.read': (params: ReadParams) => Promise<PageNotebook>;
  'notebook.edit': (params: EditParams) => Promise<PageNotebook>;
  'notebook.run': (
    params: RunParams,
    requestId: string,
    progress: Progress,
    abandoned: AbortSignal
  ) => Promise<RunResult>;
  'notebook.allow': (params: AllowParams) => Promise<void>;
  'notebook.interrupt': (params: InterruptParams) => Promise<void>;
  'notebook.selectKernel': (params: KernelParams) => Promise<PageNotebook>;
  'notebook.reveal': (params: RevealParams) => Promise<void>;
  'document.open': (params: OpenParams) => Promise<void>;
  'document.read': (params: DocumentReadParams) => Promise<DocumentText>;
  'document.write': (params: WriteTextParams) => Promise<DocumentText>;
  'document.delete': (params: DeleteDocumentParams) => Promise<void>;
  'page.executeCommand': (params: ExecuteCommandParams) => Promise<void>;
}

/** What the server may ask of this page. */
export function createMethods(parts: IParts): IMethods {
  const { commands, documents, contents, reader, reloader, runner, saver } =
    parts;
  /** A notebook, in step with its file. */
  const notebook = async (path: string): Promise<NotebookPanel> => {
    const panel = await documents.notebook(path);
    await reloader.compared(panel);
    return panel;
  };
  return {
    'notebook.read': async ({ path, cellIds, outputs, brief, whole }) => {
      const panel = await notebook(path);
      if (whole) {
        return reader.readWhole(panel, cellIds);
      }
      const indices = cellIds && indicesOf(sharedNotebook(panel), cellIds);
      const wanted = outputs ? 'whole' : brief ? 'brief' : 'none';
      return reader.read(panel, indices, wanted);
    },

    'notebook.edit': async ({ path, edits }) => {
      const panel = await notebook(path);
      const result = applyEdits(panel, edits, reader);
      await saver.save(panel.context);
      return result;
    },

    'notebook.run': async (params, requestId, progress, abandoned) => {
      const panel = await notebook(params.path);
      return runner.run(panel, params, requestId, progress, abandoned);
    },

    'notebook.allow': async ({ requestId, hashes }) =>
      runner.allow(requestId, hashes ?? {}),

    'notebook.interrupt': ({ requestId }) => runner.interrupt(requestId),

    'notebook.selectKernel': async params => {
      const panel = await notebook(params.path);
      await selectKernel(panel, params);
      return reader.read(panel, []);
    },

    'notebook.reveal': async ({ path, cellId }) => {
      await notebook(path);
      await documents.reveal(path, cellId, false);
    },

    'document.open': ({ path }) => documents.open(path),

    'document.read': ({ path, knownHash }) => documents.read(path, knownHash),

    'document.write': async ({ path, baseHash, content }) => {
      const widget = await documents.text(path);
      await writeText(widget, baseHash, content, saver, contents);
      return documents.read(path, hashSource(content));
    },

    'document.delete': ({ path }) => documents.delete(path),

    'page.executeCommand': params => executeCommand(commands, params)
  };
}

/** Carry out a request. The server's own types vouch for the parameters. */
export function dispatch(
  methods: IMethods,
  { method, params, requestId }: PageRequest,
  progress: Progress,
  abandoned: AbortSignal
): Promise<unknown> {
  const act = methods[method] as (
    params: unknown,
    requestId: string,
    progress: Progress,
    abandoned: AbortSignal
  ) => Promise<unknown>;
  return act(params, requestId, progress, abandoned);
}

/** The methods that this page knows are those of the wire. */
type MethodsAreComplete = PageMethod extends keyof IMethods ? true : never;
true satisfies MethodsAreComplete;
