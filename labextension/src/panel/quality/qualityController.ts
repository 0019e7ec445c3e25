import { messageOf } from '../../api/errors';
import { QualityReport } from '../../api/types';
import { IEditor } from '../../notebook/editor';
import { IPanelClient } from '../../api/services';
import { Observable } from '../../session/observable';

/** The report of a notebook, as far as it is there. */
export interface IQuality {
  path: string;
  isLoading: boolean;
  report?: QualityReport;
  problem?: string;
}

/** Quality reports of notebooks. */
export class QualityController {
  constructor(
    private readonly _client: Pick<IPanelClient, 'quality'>,
    private readonly _editor: Pick<IEditor, 'activeNotebook'>,
    private readonly _clientId: string
  ) {}

  readonly shown = new Observable<IQuality | null>(null);

  get activeNotebook(): string | null {
    return this._editor.activeNotebook;
  }

  /** Check the same notebook again. */
  refresh(): void {
    if (this.shown.current) {
      void this.check(this.shown.current.path);
    }
  }

  /** Check a notebook; the report before stays until the new one is there. */
  async check(path: string): Promise<void> {
    const before = this.shown.current;
    const asked: IQuality = {
      path,
      isLoading: true,
      report: before?.path === path ? before.report : undefined
    };
    this.shown.set(asked);
    let answer: Partial<IQuality>;
    try {
      const report = await this._client.quality({
        path,
        clientId: this._clientId
      });
      answer = { report };
    } catch (error) {
      const problem = messageOf(error);
      answer = { problem };
    }
    if (this.shown.current === asked) {
      this.shown.set({ ...asked, ...answer, isLoading: false });
    }
  }
}
