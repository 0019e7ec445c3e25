import { JupyterFrontEndPlugin } from '@jupyterlab/application';
import type {
  IInputToolbarRegistry,
  InputToolbarRegistry
} from '@jupyter/chat/lib/components/input/toolbar-registry';
import {
  AttachmentOpenerRegistry,
  IAttachmentOpenerRegistry
} from '@jupyter/chat/lib/registers/attachment-openers';
import {
  ChatCommandRegistry,
  IChatCommandRegistry
} from '@jupyter/chat/lib/registers/chat-commands';
import { ISignal, Signal } from '@lumino/signaling';

import {
  IAgentAttachmentOpeners,
  IAgentChatCommands,
  IAgentInputToolbar
} from '../../tokens';

type Item = InputToolbarRegistry.IToolbarItem;

/** The names of the panel's own items, which other extensions can hide and not take. */
const OWN = ['mode', 'model', 'attach', 'planFirst', 'send'] as const;

/**
 * The items under the input. The registry of `@jupyter/chat` does the same, but its module brings
 * its buttons and MUI along; this one is there from the start, when other extensions add theirs.
 */
export class InputToolbar implements IInputToolbarRegistry {
  get itemsChanged(): ISignal<this, void> {
    return this._itemsChanged;
  }

  get(name: string): Item | undefined {
    return this._items.get(name);
  }

  getItems(): Item[] {
    return [...this._items]
      .filter(([name, { hidden }]) => !hidden && !this._hidden.has(name))
      .map(([, item]) => item)
      .sort((a, b) => a.position - b.position);
  }

  /** Throws where the name is taken. */
  addItem(name: string, item: Item): void {
    if (this._items.has(name) || OWN.some(own => own === name)) {
      throw new Error(`The input's toolbar has an item "${name}" already.`);
    }
    this._set(name, item);
  }

  /** Add an item of the panel, which comes when the panel is first shown. */
  addOwn(name: (typeof OWN)[number], item: Item): void {
    this._set(name, item);
  }

  /** Hide an item, also one that comes later. */
  hide(name: string): void {
    this._hidden.add(name);
    this._itemsChanged.emit();
  }

  show(name: string): void {
    const item = this._items.get(name);
    if (item) {
      item.hidden = false;
    }
    this._hidden.delete(name);
    this._itemsChanged.emit();
  }

  private _set(name: string, item: Item): void {
    this._items.set(name, item);
    this._itemsChanged.emit();
  }

  private readonly _items = new Map<string, Item>();
  private readonly _hidden = new Set<string>();
  private readonly _itemsChanged = new Signal<this, void>(this);
}

/** What other extensions add to the panel's input. */
export interface IInputRegistries {
  commands: IChatCommandRegistry;
  openers: IAttachmentOpenerRegistry;
  toolbar: InputToolbar;
}

/** The completions of the panel's input, and what is done when it is sent. */
export const chatCommandsPlugin: JupyterFrontEndPlugin<IChatCommandRegistry> = {
  id: 'jupyter-datalayer-agent:chat-commands',
  description: "Commands and completions of the Agent panel's input.",
  autoStart: true,
  provides: IAgentChatCommands,
  activate: () => new ChatCommandRegistry()
};

/** What a click on an attached file or notebook does. */
export const attachmentOpenersPlugin: JupyterFrontEndPlugin<IAttachmentOpenerRegistry> =
  {
    id: 'jupyter-datalayer-agent:attachment-openers',
    description: 'What opens the attachments of the Agent panel.',
    autoStart: true,
    provides: IAgentAttachmentOpeners,
    activate: () => new AttachmentOpenerRegistry()
  };

/** The items under the panel's input. */
export const inputToolbarPlugin: JupyterFrontEndPlugin<IInputToolbarRegistry> =
  {
    id: 'jupyter-datalayer-agent:input-toolbar',
    description: "The toolbar of the Agent panel's input.",
    autoStart: true,
    provides: IAgentInputToolbar,
    activate: () => new InputToolbar()
  };
