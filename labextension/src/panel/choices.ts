import { Attachment, Mode, SessionSettings, SharePolicy } from '../api/types';
import { Value } from './state/value';

/** What the person chose for the next message. */
export interface IChoices {
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
}

/** The mode, the model and the attachments of the next message. */
export class Choices extends Value<IChoices> {
  /** `onChoice` is told what the person changed, not what a session remembers. */
  constructor(private readonly _onChoice: () => void) {
    super({ mode: 'ask', attachments: [], tools: [], planFirst: false });
  }

  /** The form in which a session remembers them. */
  get settings(): SessionSettings {
    const { attachments, tools: _, ...chosen } = this.current;
    return { ...chosen, attachments: [...attachments] };
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
      rowData: settings.rowData
    });
  }

  /** The person chooses. */
  choose(choices: Partial<IChoices>): void {
    this.patch(choices);
    this._onChoice();
  }

  /** Attach something, once. */
  attach(...added: Attachment[]): void {
    const attachments = [...this.current.attachments];
    for (const attachment of added) {
      if (!attachments.some(other => isSame(other, attachment))) {
        attachments.push(attachment);
      }
    }
    this.choose({ attachments });
  }

  /** Take an attachment away. */
  detach(attachment: Attachment): void {
    this.choose({
      attachments: this.current.attachments.filter(
        other => !isSame(other, attachment)
      )
    });
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

function isSame(a: Attachment, b: Attachment): boolean {
  return (
    a.kind === b.kind &&
    a.path === b.path &&
    a.cellId === b.cellId &&
    a.name === b.name
  );
}
