import { useEffect, useState } from 'react';

import { ToolListing } from '../../api/types';
import { unavailableReason } from './attachments/references';
import { useValue } from '../../session/observable';
import { useEditorChanges } from './editorChanges';
import { usePanel } from '../context';

/** Every tool as it is with the mode and the active notebook now; none until they are known. */
export function useTools(isWanted: boolean): readonly ToolListing[] {
  const { model } = usePanel();
  const { mode, attachments } = useValue(model.composerState);
  const { status } = useValue(model.link);
  const [tools, setTools] = useState<readonly ToolListing[]>([]);
  useEditorChanges();
  const active = model.editor.activeNotebook;
  useEffect(() => {
    let isCurrent = isWanted && status === 'online';
    if (isCurrent) {
      model.references.tools().then(
        found => isCurrent && setTools(found),
        () => undefined // The connection's own line says that the server is gone.
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [model, mode, attachments, active, status, isWanted]);
  return tools;
}

/** A tool that is meant and cannot be used with the next message. */
export interface IUnmetRequirement {
  name: string;
  reason: string;
  /** What would make it possible. */
  remedy: 'mode' | 'notebook' | null;
}

/** Those of the named tools that cannot be used now. */
export function unmetRequirements(
  names: readonly string[],
  tools: readonly ToolListing[],
  mode: 'ask' | 'edit' | 'agent'
): IUnmetRequirement[] {
  const plain = (name: string) => name.toLowerCase().replace(/_/g, '');
  const found = new Map<string, IUnmetRequirement>();
  for (const name of names) {
    const tool = tools.find(each =>
      [each.name, ...each.aliases].some(other => plain(other) === plain(name))
    );
    if (tool && !tool.enabled) {
      const remedy =
        tool.changes && mode !== 'agent'
          ? 'mode'
          : tool.group === 'notebook'
            ? 'notebook'
            : null;
      const reason = unavailableReason(tool, mode);
      found.set(tool.name, { name: tool.name, reason, remedy });
    }
  }
  return [...found.values()];
}

/** What a tool does, for users: its label, or the first sentence of what is written for the model. */
export function toolText({ label, description }: ToolListing): string {
  return (
    label?.action ??
    /^[^\n]*?[.](?=\s|$)/.exec(description)?.[0] ??
    description.split('\n')[0]
  );
}
