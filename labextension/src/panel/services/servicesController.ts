import { ActionProposal, IntentChoice, Op, ServiceInfo } from '../../api/types';
import { IPanelClient } from '../../api/services';
import { IWork } from '../composer/messageController';
import { IEditor } from '../../notebook/editor';
import { IActionId } from '../../actions/host';
import { Observable } from '../../session/observable';

/** The services, as far as they are known. */
export interface IKnownServices {
  list: readonly ServiceInfo[] | null;
  problem?: string;
}

/** What `ServicesController` is made of. */
export interface IServicesOptions {
  client: Pick<IPanelClient, 'listServices' | 'dryRun' | 'intent'>;
  clientId: string;
  editor: IEditor;
  sessionId: () => string | null;
  submit: (op: Op) => Promise<void>;
  send: (message: string, work: IWork) => Promise<boolean>;
  reportError: (error: unknown) => void;
}

/** What services can do, and their actions: proposed, filled in and run by the user. */
export class ServicesController {
  constructor(private readonly _options: IServicesOptions) {}

  readonly known = new Observable<IKnownServices>({ list: null });

  /** The services; asked for once. */
  load(): Promise<readonly ServiceInfo[]> {
    this._loading ??= this._load();
    return this._loading;
  }

  /** Ask again which there are. */
  async refresh(): Promise<void> {
    this._loading = this._load();
    await this._loading;
  }

  /** Whether a message without a command is for an action of a service, as far as words say. */
  isFor(message: string): Promise<boolean> {
    return this._options.client.intent({ message }).then(
      ({ service }) => !!service,
      () => false
    );
  }

  /** A dry run: what the action would be run with, and what it asks next. Nothing is executed. */
  dryRun(
    { service, action }: IActionId,
    parameters: Record<string, unknown> = {},
    activeNotebook = this._options.editor.activeNotebook
  ): Promise<ActionProposal> {
    const { client, clientId, sessionId } = this._options;
    return client.dryRun(service, action, {
      message: '',
      parameters,
      activeNotebook,
      clientId,
      sessionId: sessionId() ?? undefined
    });
  }

  /** Run an action that was proposed; false, with a notice, where that could not be asked. */
  async run(
    proposalId: string,
    parameters: Record<string, unknown>
  ): Promise<boolean> {
    try {
      await this._options.submit({
        type: 'run_action',
        proposalId,
        parameters
      });
      return true;
    } catch (error) {
      this._options.reportError(error);
      return false;
    }
  }

  /** Run an action that the user chose without a message. */
  runNew(
    { service, action, title, notebook }: ActionProposal,
    parameters: Record<string, unknown>
  ): Promise<boolean> {
    const call = { service, action, parameters };
    return this._options.send(title, { action: call, notebook });
  }

  /** Send a message again, for what the user says that it asks; without a service as it is. */
  correct(message: string, intent: IntentChoice): Promise<boolean> {
    return this._options.send(message, { intent });
  }

  /** Open a file that an action wrote. */
  async openFile(path: string): Promise<void> {
    try {
      if (!(await this._options.editor.openFirst([path]))) {
        throw new Error(`File not found: ${path}`);
      }
    } catch (error) {
      this._options.reportError(error);
    }
  }

  private async _load(): Promise<readonly ServiceInfo[]> {
    try {
      const { services } = await this._options.client.listServices();
      this.known.set({ list: services });
      return services;
    } catch (error) {
      this._loading = null;
      const problem = error instanceof Error ? error.message : String(error);
      this.known.set({ list: this.known.current.list, problem });
      return this.known.current.list ?? [];
    }
  }

  private _loading: Promise<readonly ServiceInfo[]> | null = null;
}

/** "Notebook: Export the notebook", as the server titles an intent. */
export function intentTitle(
  { service, subcommand }: IntentChoice,
  services: readonly ServiceInfo[]
): string {
  const known = services.find(({ id }) => id === service);
  const name = known?.name ?? service ?? '';
  const action = known?.actions?.find(({ id }) => id === subcommand);
  const title = action?.title ?? capitalized(subcommand ?? '');
  return title ? `${name}: ${title}` : name;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
