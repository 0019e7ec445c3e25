import { messageOf } from '../../api/errors';
import { StrategistReply } from '../../api/types';
import { IPanelClient } from '../../api/services';
import { IMemory } from '../../ui/memory';
import { Observable } from '../../session/observable';

/** A question about the past, and what came of it. */
export interface IAskedStrategist {
  question: string;
  since: number;
  isAsking: boolean;
  answer?: StrategistReply;
  problem?: string;
}

interface IAsker {
  sessionId?: string;
  model?: string;
}

/** The read-only agent that answers from earlier conversations; one question at a time. */
export class StrategistController {
  constructor(
    private readonly _client: Pick<IPanelClient, 'askStrategist'>,
    private readonly _clientId: string,
    private readonly _session: () => string | null,
    private readonly _memory: IMemory | null
  ) {
    void this._memory?.load().then(model => {
      if (model && !this._isChosen) {
        this.model.set(model);
      }
    });
  }

  readonly asked = new Observable<IAskedStrategist | null>(null);

  /** The model that answers; undefined is the one that the server would take. */
  readonly model = new Observable<string | undefined>(undefined);

  /** Let another model answer from now on. */
  choose(model: string | undefined): void {
    this._isChosen = true;
    this.model.set(model);
    this._memory?.save(model ?? null);
  }

  /**
   * Ask, and wait for the answer; null where another question is being answered. What comes of it
   * is written by the server as a cell of `scratchpad`, also when this page is gone by then.
   */
  async ask(
    question: string,
    scratchpad?: string
  ): Promise<IAskedStrategist | null> {
    if (this.asked.current?.isAsking || !question.trim()) {
      return null;
    }
    const answered = this._ask(question, this._asker(), scratchpad);
    this._answered = answered;
    return answered;
  }

  /** Ask as soon as the questions before are answered. */
  askNext(question: string): void {
    if (question.trim()) {
      const asker = this._asker();
      this._answered = this._answered.then(() => this._ask(question, asker));
    }
  }

  /** From which session a question comes, and which model is to answer it, as chosen now. */
  private _asker(): IAsker {
    return {
      sessionId: this._session() ?? undefined,
      model: this.model.current
    };
  }

  private async _ask(
    question: string,
    asker: IAsker,
    scratchpad?: string
  ): Promise<IAskedStrategist> {
    const asked = {
      question: question.trim(),
      since: Date.now(),
      isAsking: true
    };
    this.asked.set(asked);
    let outcome: Pick<IAskedStrategist, 'answer' | 'problem'>;
    try {
      const answer = await this._client.askStrategist({
        question: asked.question,
        ...asker,
        clientId: this._clientId,
        scratchpad
      });
      outcome = answer.error ? { problem: answer.error.message } : { answer };
    } catch (error) {
      outcome = {
        problem: messageOf(error)
      };
    }
    const done = { ...asked, ...outcome, isAsking: false };
    this.asked.set(done);
    return done;
  }

  private _isChosen = false;
  /** Fulfilled when nothing that was asked is unanswered; never rejected. */
  private _answered: Promise<unknown> = Promise.resolve();
}

/** A question with its answer, as a cell of the scratchpad. */
export function cellOf(question: string, answer: StrategistReply) {
  return {
    content: `**${question.replace(/\s+/g, ' ')}**\n\n${answer.reply}`,
    turnId: answer.turnId,
    provenance: answer.provenance
  };
}
