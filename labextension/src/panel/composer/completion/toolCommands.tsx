import {
  ChatCommand,
  IChatCommandProvider
} from '@jupyter/chat/lib/registers/chat-commands';
import { IInputModel } from '@jupyter/chat/lib/input-model';
import React from 'react';

import { ToolListing } from '../../../api/types';
import { PanelModel } from '../../model';
import { unavailableReason } from '../attachments/references';
import { toolText } from '../toolState';

/** Completions that are shown at most. */
const MOST = 12;

/** `#`: the tools, those that cannot be used now with the reason. */
export class ToolCommands implements IChatCommandProvider {
  constructor(private readonly _model: PanelModel) {}

  readonly id = 'jupyter-datalayer-agent:tools';

  async listCommandCompletions(input: IInputModel): Promise<ChatCommand[]> {
    const word = input.currentWord ?? '';
    if (!word.startsWith('#')) {
      return [];
    }
    const tools = await this._model.references.tools();
    const typed = word.slice(1).toLowerCase();
    const { mode } = this._model.composerState.current;
    return tools
      .filter(tool => tool.name.toLowerCase().includes(typed))
      .sort((a, b) => rank(a, typed) - rank(b, typed))
      .slice(0, MOST)
      .map(tool => ({
        name: `#${tool.name}`,
        providerId: this.id,
        description: [
          toolText(tool),
          ...(tool.enabled ? [] : [unavailableReason(tool, mode)])
        ].join(' · '),
        icon: mark(tool.enabled ? '' : 'da-mod-unavailable'),
        spaceOnAccept: true
      }));
  }

  /** A reference stays in the message: the server reads it there. */
  async onSubmit(): Promise<void> {
    return;
  }
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
