import { messageOf } from '../../api/errors';
import { UsageBy, UsageReply } from '../../api/types';
import { IPanelClient } from '../../api/services';
import { Observable } from '../../session/observable';

/** What was used, as far as it is there. */
export interface IUsage {
  by: UsageBy;
  days: number;
  isLoading: boolean;
  reply?: UsageReply;
  problem?: string;
}

/** What was used in the last days, by day, model or session. */
export class UsageController {
  constructor(private readonly _client: Pick<IPanelClient, 'usage'>) {}

  readonly shown = new Observable<IUsage>({
    by: 'day',
    days: 30,
    isLoading: false
  });

  /** Ask the server; what was there before stays until the answer comes. */
  async show(what: { by?: UsageBy; days?: number } = {}): Promise<void> {
    const before = this.shown.current;
    const { by, days } = { ...before, ...what };
    const asked: IUsage = { by, days, isLoading: true, reply: before.reply };
    this.shown.set(asked);
    let answer: Partial<IUsage>;
    try {
      answer = { reply: await this._client.usage({ by, days }) };
    } catch (error) {
      const problem = messageOf(error);
      answer = { problem };
    }
    if (this.shown.current === asked) {
      this.shown.set({ ...asked, ...answer, isLoading: false });
    }
  }
}
