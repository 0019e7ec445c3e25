import {
  ChatCommand,
  IChatCommandProvider
} from '@jupyter/chat/lib/registers/chat-commands';
import { IInputModel } from '@jupyter/chat/lib/input-model';
import { Contents } from '@jupyterlab/services';
import {
  codeIcon,
  consoleIcon,
  fileIcon,
  folderIcon,
  notebookIcon,
  spreadsheetIcon
} from '@jupyterlab/ui-components';
import React from 'react';

import { Attachment } from '../../../api/types';
import { variableIcon } from '../../../ui/icons';
import { PanelModel } from '../../model';
import { mark } from './toolCommands';
import { IReference, matching, mentionsIn } from '../attachments/references';

/** How long a list of files is good for, in ms. */
const FRESH = 5000;

export const REFERENCE_ICONS = {
  notebook: notebookIcon,
  file: fileIcon,
  folder: folderIcon,
  cell: codeIcon,
  output: consoleIcon,
  dataset: spreadsheetIcon,
  variable: variableIcon,
  note: variableIcon
};

/**
 * `@`: files, notebooks, cells and outputs of the active notebook, data sets, variables.
 *
 * What was completed is attached as soon as it is there; the words stay in the message.
 */
export class ReferenceCommands implements IChatCommandProvider {
  constructor(
    private readonly _model: PanelModel,
    private readonly _contents: Contents.IManager
  ) {}

  readonly id = 'jupyter-datalayer-agent:references';

  /** Attach what is completed in this input. */
  watch(input: IInputModel): void {
    input.valueChanged.connect((_, text) => this._attach(text, true));
  }

  async listCommandCompletions(input: IInputModel): Promise<ChatCommand[]> {
    const word = (input.currentWord ?? '').replace(/\\ /g, ' ');
    if (!word.startsWith('@')) {
      return [];
    }
    const typed = word.slice(1);
    const folder = word.slice(1, Math.max(1, word.lastIndexOf('/')));
    const [others, files] = await Promise.all([
      this._model.references.all(),
      this._list(folder)
    ]);
    return matching([...others, ...files], typed).map(each =>
      this._completion(each)
    );
  }

  /** Every reference that was completed and is still in the message is attached. */
  async onSubmit(input: IInputModel): Promise<void> {
    this._attach(input.value, false);
    this._noteCompleted(input.value);
    this._there = new Set();
  }

  private _attach(text: string, isWhole: boolean): void {
    const there = new Set(mentionsIn(text, isWhole));
    for (const mention of there) {
      const attachment = this._completed.get(mention);
      if (attachment && !this._there.has(mention)) {
        this._model.composerState.attach(attachment);
      }
    }
    this._there = there;
  }

  private _completion(reference: IReference): ChatCommand {
    const { kind, mention, description, attachment } = reference;
    if (attachment) {
      this._completed.set(mention, attachment);
    }
    const Icon = REFERENCE_ICONS[kind];
    return {
      name: `@${mention.replace(/ /g, '\\ ')}`,
      providerId: this.id,
      description,
      icon: mark(
        kind === 'note' ? 'da-mod-unavailable' : '',
        <Icon.react tag="span" />
      ),
      spaceOnAccept: !!attachment
    };
  }

  private async _list(folder: string): Promise<IReference[]> {
    if (this._cache?.folder !== folder || Date.now() - this._cache.at > FRESH) {
      const model = await this._contents
        .get(folder, { content: true })
        .catch(() => null);
      const entries =
        model?.type === 'directory' ? (model.content as Contents.IModel[]) : [];
      this._cache = {
        folder,
        at: Date.now(),
        files: entries.map(fileReference)
      };
    }
    return this._cache.files;
  }

  /** What of a message was chosen from the list; the rest is looked up when it is sent. */
  private _noteCompleted(text: string): void {
    const { completed } = this._model.references;
    completed.clear();
    mentionsIn(text, false)
      .filter(mention => this._completed.has(mention))
      .forEach(mention => completed.add(mention));
  }

  private readonly _completed = new Map<string, Attachment>();
  private _there = new Set<string>();
  private _cache: {
    folder: string;
    at: number;
    files: IReference[];
  } | null = null;
}

function fileReference({ type, path, name }: Contents.IModel): IReference {
  if (type === 'directory') {
    return { kind: 'folder', mention: `${path}/`, label: name };
  }
  const kind = type === 'notebook' ? 'notebook' : 'file';
  return { kind, mention: path, label: name, attachment: { kind, path } };
}
