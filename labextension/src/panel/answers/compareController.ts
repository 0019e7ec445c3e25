import { INamedModel, readCompareText } from './compareText';
import { ModelsReply } from '../../api/types';
import { readyModels } from '../composer/models';
import { IWork } from '../composer/messageController';
import { ToolsPanel } from '../toolsPanel/toolsPanel';
import { AnswersController, modelName } from './answersController';
import { IMemory } from '../../ui/memory';
import { IReadable } from '../../session/observable';

export const FEWEST_MODELS = 2;
export const MOST_MODELS = 4;

/** The parts of the panel that a comparison needs. */
export interface ICompareServices {
  models: IReadable<ModelsReply | null>;
  composerState: IReadable<{ model?: string }>;
  answers: AnswersController;
  toolsPanel: ToolsPanel;
  refreshModels(): Promise<void>;
  send(message: string, work?: IWork): Promise<boolean>;
}

/** Sends a message to several models, and remembers which. */
export class CompareController {
  constructor(
    private readonly _panel: ICompareServices,
    private readonly _memory: IMemory | null
  ) {
    void this._memory?.load().then(saved => {
      this._last = this._last.length ? this._last : namesIn(saved);
    });
  }

  /** The models that could answer, that of the next message first. */
  get choices(): INamedModel[] {
    const reply = this._panel.models.current;
    if (!reply || reply.locked) {
      return [];
    }
    const { model } = this._panel.composerState.current;
    const own = model ?? reply.default;
    const isUnready = (id: string) =>
      reply.models.some(info => info.id === id && !info.ready);
    const ids = new Set([
      ...(own ? [own] : []),
      ...readyModels(reply).map(({ id }) => id),
      // Models that the server does not list can be used, too.
      ...this._last.filter(id => reply.models.every(info => info.id !== id))
    ]);
    return [...ids]
      .filter(id => !isUnready(id))
      .map(id => ({ id, label: modelName(reply, id) }));
  }

  /** The models that are chosen when the choice opens: the last ones, else the first two. */
  get initial(): string[] {
    const ids = this.choices.map(({ id }) => id);
    const last = this._last.filter(id => ids.includes(id));
    return last.length >= FEWEST_MODELS ? last : ids.slice(0, FEWEST_MODELS);
  }

  /** Do what was typed after `/compare`: send it, or have the rest chosen. */
  async run(text: string): Promise<void> {
    if (!this._panel.models.current) {
      await this._panel.refreshModels();
    }
    const { models, unknown, question } = readCompareText(text, this.choices);
    const tooMany = models.length > MOST_MODELS;
    if (models.length) {
      this._named = models.slice(0, MOST_MODELS);
    }
    const isWhole = models.length >= FEWEST_MODELS && !unknown.length;
    if (isWhole && !tooMany && question) {
      if (await this.send(question, models)) {
        return;
      }
    }
    const problem = unknown.length
      ? `No ready model is named ${unknown.join(', ')}.`
      : tooMany
        ? `Up to ${MOST_MODELS} models can answer at once.`
        : undefined;
    this._open(question, { problem });
  }

  /** Choose other models that answer what a turn asked. */
  regenerate(turnId: string): void {
    this._open('', { turnId });
  }

  /** The models that were named in what opened the choice; once. */
  takeNamed(): string[] | null {
    const named = this._named;
    this._named = null;
    return named;
  }

  /** Send a message to these models; false, with a notice, where it could not be sent. */
  async send(question: string, models: readonly string[]): Promise<boolean> {
    this._remember(models);
    this._named = null;
    const isSent = await this._panel.send(question, { compare: models });
    if (isSent) {
      this._close();
    }
    return isSent;
  }

  /** Have these models answer what a turn asked. */
  ask(turnId: string, models: readonly string[]): void {
    this._remember(models);
    this._panel.answers.ask(turnId, models);
    this._close();
  }

  /** Close the choice; another card that is open stays. */
  private _close(): void {
    const { toolsPanel } = this._panel;
    if (toolsPanel.card.current?.kind === 'compare') {
      toolsPanel.close();
    }
  }

  private _open(
    question: string,
    more: { turnId?: string; problem?: string }
  ): void {
    void this._panel.refreshModels();
    this._panel.toolsPanel.card.set({ kind: 'compare', question, ...more });
  }

  private _remember(models: readonly string[]): void {
    this._last = [...models];
    this._memory?.save(JSON.stringify(models));
  }

  private _last: string[] = [];
  private _named: string[] | null = null;
}

function namesIn(saved: string | null): string[] {
  try {
    const value: unknown = JSON.parse(saved ?? '[]');
    return Array.isArray(value)
      ? value.filter((each): each is string => typeof each === 'string')
      : [];
  } catch {
    return [];
  }
}
