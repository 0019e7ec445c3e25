import { IRename } from '../../api/renames';
import {
  Attachment,
  Mode,
  ModelsReply,
  ReasoningEffort,
  SessionSettings,
  SharePolicy
} from '../../api/types';
import { Observable } from '../../session/observable';
import { attachmentsAfter } from '../../session/renames';

/** What the user chose for the next message. */
export interface IComposerState {
  mode: Mode;
  model?: string;
  attachments: readonly Attachment[];
  /** Names of the tools that the next message means, beside those that it names itself. */
  tools: readonly string[];
  /** In Agent mode: the plan is shown before anything is done. */
  planFirst: boolean;
  /** What may go to the model; where it is not chosen the layers below say. */
  outputs?: SharePolicy;
  rowData?: SharePolicy;
  /** How much the model reasons; null takes an earlier choice back. */
  reasoningEffort?: ReasoningEffort | null;
}

/** The mode, the model and the attachments of the next message. */
export class ComposerState extends Observable<IComposerState> {
  /** `onChoice` is called for changes by the user, not for restored session settings. */
  constructor(private readonly _onChoice: () => void) {
    super({ mode: 'ask', attachments: [], tools: [], planFirst: false });
  }

  /** The form in which a session remembers them. */
  get settings(): SessionSettings {
    return settingsOf(this.current);
  }

  /** Take up what a session remembers. */
  restore(settings: SessionSettings): void {
    this.set({
      mode: settings.mode ?? this.current.mode,
      model: settings.model,
      attachments: settings.attachments ?? [],
      tools: [],
      planFirst: settings.planFirst ?? false,
      outputs: settings.outputs,
      rowData: settings.rowData,
      reasoningEffort: settings.reasoningEffort
    });
  }

  /** The user chooses. */
  choose(chosen: Partial<IComposerState>): void {
    this.patch(chosen);
    this._onChoice();
  }

  /** Forget what an administrator decides; a session may remember it from before. */
  forgetLocked({ locked, lockedChoices = [] }: ModelsReply): void {
    const { model, outputs, rowData, reasoningEffort } = this.current;
    const free = {
      model: locked ? undefined : model,
      outputs: lockedChoices.includes('outputs') ? undefined : outputs,
      rowData: lockedChoices.includes('row_data') ? undefined : rowData,
      reasoningEffort: lockedChoices.includes('reasoning_effort')
        ? undefined
        : reasoningEffort
    };
    const names = Object.keys(free) as (keyof typeof free)[];
    if (names.some(name => free[name] !== this.current[name])) {
      this.patch(free);
    }
  }

  /** Attach something, once. */
  attach(...added: Attachment[]): void {
    this.choose({ attachments: withAdded(this.current.attachments, added) });
  }

  /** Take an attachment away. */
  detach(attachment: Attachment): void {
    this.choose({
      attachments: this.current.attachments.filter(
        other => !isSame(other, attachment)
      )
    });
  }

  /** A document or folder was renamed: what is attached of it stays attached. */
  renamed(rename: IRename): void {
    const { attachments } = this.current;
    const renamed = attachmentsAfter(attachments, rename);
    if (renamed !== attachments) {
      this.patch({ attachments: renamed });
    }
  }

  /** A notebook is gone: it is not attached any more. */
  detachNotebook(path: string): void {
    const notebook: Attachment = { kind: 'notebook', path };
    if (this.has(notebook)) {
      this.detach(notebook);
    }
  }

  /** The session knows no data sets any more. */
  forgetDatasets(): void {
    const { attachments } = this.current;
    const left = attachments.filter(({ kind }) => kind !== 'dataset');
    if (left.length < attachments.length) {
      this.choose({ attachments: left });
    }
  }

  /** The next message means a tool, or no longer. */
  toggleTool(name: string): void {
    const { tools } = this.current;
    this.patch({
      tools: tools.includes(name)
        ? tools.filter(other => other !== name)
        : [...tools, name]
    });
  }

  /** Whether this is attached. */
  has(attachment: Attachment): boolean {
    return this.current.attachments.some(other => isSame(other, attachment));
  }

  /** Whether a data set is attached. */
  hasDataset(name: string): boolean {
    return this.current.attachments.some(
      ({ kind, name: other }) => kind === 'dataset' && other === name
    );
  }

  /** Whether a notebook is attached. */
  hasNotebook(path: string): boolean {
    return this.current.attachments.some(
      ({ kind, path: other }) => kind === 'notebook' && other === path
    );
  }
}

/** Attachments with others, each once. */
export function withAdded(
  attachments: readonly Attachment[],
  added: readonly Attachment[]
): Attachment[] {
  const all = [...attachments];
  for (const attachment of added) {
    if (!all.some(other => isSame(other, attachment))) {
      all.push(attachment);
    }
  }
  return all;
}

/** The settings that a session remembers. */
export function settingsOf({
  attachments,
  tools: _,
  ...chosen
}: IComposerState): SessionSettings {
  return { ...chosen, attachments: [...attachments] };
}

function isSame(a: Attachment, b: Attachment): boolean {
  return (
    a.kind === b.kind &&
    a.path === b.path &&
    a.cellId === b.cellId &&
    a.name === b.name
  );
}
