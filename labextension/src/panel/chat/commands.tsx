import {
  ChatCommand,
  IChatCommandProvider
} from '@jupyter/chat/lib/registers/chat-commands';
import { IInputModel } from '@jupyter/chat/lib/input-model';
import { Contents } from '@jupyterlab/services';
import { fileIcon, folderIcon, notebookIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { Mode, ToolListing } from '../../api/types';
import { PanelModel } from '../model';
import { describe } from '../state/descriptions';

/** Completions that are shown at most. */
const MOST = 12;

/** How long a list of tools or files is good for, in ms. */
const FRESH = 5000;

/** `#`: the tools, those that cannot be used now with the reason. */
export class ToolCommands implements IChatCommandProvider {
  constructor(private readonly _model: PanelModel) {}

  readonly id = 'jupyter-datalayer-agent:tools';

  async listCommandCompletions(input: IInputModel): Promise<ChatCommand[]> {
    if (!input.currentWord?.startsWith('#')) {
      return [];
    }
    const tools = await this._tools();
    // The person types on meanwhile: the answer that comes last is about what stands then.
    const word = input.currentWord ?? '';
    if (!word.startsWith('#')) {
      return [];
    }
    const typed = word.slice(1).toLowerCase();
    const { mode } = this._model.choices.current;
    return tools
      .filter(tool => tool.name.toLowerCase().includes(typed))
      .sort((a, b) => rank(a, typed) - rank(b, typed))
      .slice(0, MOST)
      .map(tool => ({
        name: `#${tool.name}`,
        providerId: this.id,
        description: [
          describe(tool.name, tool.description),
          ...(tool.enabled ? [] : [lackOf(tool, mode)])
        ].join(' · '),
        icon: mark(tool.enabled ? '' : 'da-mod-unavailable'),
        spaceOnAccept: true
      }));
  }

  /** A reference stays in the message: the server reads it there. */
  async onSubmit(): Promise<void> {
    return;
  }

  private async _tools(): Promise<ToolListing[]> {
    const { mode } = this._model.choices.current;
    const path = this._model.editor.activeNotebook ?? undefined;
    const attached = path ? this._model.choices.hasNotebook(path) : undefined;
    const key = JSON.stringify([mode, path, attached]);
    if (this._cache?.key !== key || Date.now() - this._cache.at > FRESH) {
      const { tools } = await this._model.client.listTools({
        mode,
        path,
        attached,
        location: 'panel'
      });
      this._cache = { key, at: Date.now(), tools };
    }
    return this._cache.tools;
  }

  private _cache: { key: string; at: number; tools: ToolListing[] } | null =
    null;
}

/** `@`: files and notebooks, which become attachments when the message is sent. */
export class FileCommands implements IChatCommandProvider {
  constructor(
    private readonly _model: PanelModel,
    private readonly _contents: Contents.IManager
  ) {}

  readonly id = 'jupyter-datalayer-agent:files';

  async listCommandCompletions(input: IInputModel): Promise<ChatCommand[]> {
    let asked = filePart(input);
    while (asked) {
      const entries = await this._list(asked.folder);
      // The person types on meanwhile: the answer that comes last is about what stands then.
      const now = filePart(input);
      if (now && now.folder === asked.folder) {
        const { prefix } = now;
        return entries
          .filter(entry => entry.name.toLowerCase().includes(prefix))
          .sort((a, b) => place(a, prefix) - place(b, prefix))
          .slice(0, MOST)
          .map(entry => this._completion(entry));
      }
      asked = now;
    }
    return [];
  }

  /** Every path that was completed and still stands in the message is attached. */
  async onSubmit(input: IInputModel): Promise<void> {
    for (const match of input.value.matchAll(/(?:^|\s)@((?:\\\s|\S)+)/g)) {
      const path = unescape(match[1]).replace(/[.,;:!?]+$/, '');
      const kind = this._completed.get(path);
      if (kind) {
        this._model.choices.attach({ kind, path });
      }
    }
  }

  private _completion(entry: Contents.IModel): ChatCommand {
    const isFolder = entry.type === 'directory';
    const isNotebook = entry.type === 'notebook';
    if (!isFolder) {
      this._completed.set(entry.path, isNotebook ? 'notebook' : 'file');
    }
    const Icon = isFolder ? folderIcon : isNotebook ? notebookIcon : fileIcon;
    return {
      name: `@${escape(entry.path)}${isFolder ? '/' : ''}`,
      providerId: this.id,
      icon: mark('', <Icon.react tag="span" />),
      spaceOnAccept: !isFolder
    };
  }

  private async _list(folder: string): Promise<Contents.IModel[]> {
    if (this._cache?.folder !== folder || Date.now() - this._cache.at > FRESH) {
      const model = await this._contents
        .get(folder, { content: true })
        .catch(() => null);
      const entries =
        model?.type === 'directory' ? (model.content as Contents.IModel[]) : [];
      this._cache = { folder, at: Date.now(), entries };
    }
    return this._cache.entries;
  }

  private readonly _completed = new Map<string, 'notebook' | 'file'>();
  private _cache: {
    folder: string;
    at: number;
    entries: Contents.IModel[];
  } | null = null;
}

/** An icon by which the styles know a completion as ours. */
export function mark(className: string, icon?: JSX.Element): JSX.Element {
  return <span className={`da-command ${className}`}>{icon}</span>;
}

/** Available tools first, and those whose name begins as typed. */
function rank(tool: ToolListing, typed: string): number {
  return (
    (tool.enabled ? 0 : 2) + (tool.name.toLowerCase().startsWith(typed) ? 0 : 1)
  );
}

/** Why a tool cannot be used now, for people: the server's reason is written for the model. */
function lackOf({ changes, group }: ToolListing, mode: Mode): string {
  if (changes && mode !== 'agent') {
    return 'in Agent mode only';
  }
  return group === 'notebook'
    ? 'needs a notebook that is attached and in front'
    : 'not available now';
}

/** Notebooks before files before folders, and those whose name begins as typed. */
function place(entry: Contents.IModel, prefix: string): number {
  const kind = { notebook: 0, directory: 2 }[entry.type] ?? 1;
  return kind + (entry.name.toLowerCase().startsWith(prefix) ? 0 : 3);
}

/** The folder and the beginning of a name in the word at the cursor, if that is a path. */
function filePart(
  input: IInputModel
): { folder: string; prefix: string } | null {
  const word = unescape(input.currentWord ?? '');
  if (!word.startsWith('@')) {
    return null;
  }
  const slash = word.lastIndexOf('/');
  return {
    folder: word.slice(1, Math.max(1, slash)),
    prefix: word.slice(Math.max(0, slash) + 1).toLowerCase()
  };
}

/** Blanks in a path, as the input writes them: `a\ b`. */
function escape(path: string): string {
  return path.replace(/ /g, '\\ ');
}

function unescape(word: string): string {
  return word.replace(/\\ /g, ' ');
}
