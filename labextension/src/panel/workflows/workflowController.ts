import { messageOf } from '../../api/errors';
import { WorkflowCall, WorkflowInfo } from '../../api/types';
import { IPanelClient } from '../../api/services';
import { formatWorkflow } from './parameters';
import { Observable } from '../../session/observable';

/** The workflows as far as they are known. */
export interface IWorkflows {
  list: readonly WorkflowInfo[] | null;
  problem?: string;
}

/** The workflows that there are, and the way to run one as a turn of the session. */
export class WorkflowController {
  constructor(
    private readonly _client: Pick<IPanelClient, 'listWorkflows'>,
    private readonly _send: (
      message: string,
      workflow: WorkflowCall
    ) => Promise<boolean>
  ) {}

  readonly known = new Observable<IWorkflows>({ list: null });

  /** Ask which there are. */
  async refresh(): Promise<void> {
    try {
      const { workflows } = await this._client.listWorkflows();
      this.known.set({ list: workflows });
    } catch (error) {
      const problem = messageOf(error);
      this.known.patch({ problem });
    }
  }

  find(id: string): WorkflowInfo | null {
    return this.known.current.list?.find(each => each.id === id) ?? null;
  }

  /** Run one; false where it could not be sent. */
  run(
    { id, name }: Pick<WorkflowInfo, 'id' | 'name'>,
    parameters: Record<string, unknown>
  ): Promise<boolean> {
    return this._send(formatWorkflow(name, parameters), { id, parameters });
  }
}
