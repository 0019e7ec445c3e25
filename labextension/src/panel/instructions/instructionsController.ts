import { messageOf } from '../../api/errors';
import { IPanelClient } from '../../api/services';
import { FolderInstructions, InstructionsReply } from '../../api/types';
import { Observable } from '../../session/observable';

/** What the panel knows of the folder's `AGENTS.md`. */
export interface IInstructionsShown extends InstructionsReply {
  /** Why a decision was not kept. */
  failed?: string;
}

/** The instructions that the server root brings, and what the user decides about them. */
export class InstructionsController {
  constructor(
    private readonly _client: Pick<
      IPanelClient,
      'instructions' | 'decideOnInstructions'
    >
  ) {}

  readonly shown = new Observable<IInstructionsShown>({});

  /** Ask for the file. Nobody waits for it: without an answer nothing is asked. */
  async refresh(): Promise<void> {
    try {
      const now = await this._client.instructions();
      if (JSON.stringify(now) !== JSON.stringify(this.shown.current)) {
        this.shown.set(now);
      }
    } catch {
      // The server cannot be reached, which is shown elsewhere.
    }
  }

  /** Allow the file as it is shown, or not. */
  async decide(
    { contentHash }: FolderInstructions,
    allowed: boolean
  ): Promise<void> {
    try {
      this.shown.set(
        await this._client.decideOnInstructions({ contentHash, allowed })
      );
    } catch (error) {
      await this.refresh();
      this.shown.set({ ...this.shown.current, failed: messageOf(error) });
    }
  }
}
