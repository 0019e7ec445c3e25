import { expect } from '@playwright/test';

import { PythonProcess } from './process';

/** A step of the scripted model: see `tests/support/model_script.py`. */
export type Step = Record<string, unknown>;

/** A request as the scripted model received it. */
export interface IModelRequest {
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  stream: boolean;
  /** All that the model would read, as one text. */
  text: string;
  toolNames: string[];
  /** What the newest tool call was answered with. */
  lastOutput: string;
  outcome: 'completed' | 'disconnected' | 'cut' | 'status' | null;
}

interface IState {
  remaining: number;
  waiting: number;
  requests: number;
  errors: string[];
}

/** The scripted model server, in a process of its own. */
export class ScriptedModel {
  private constructor(
    private readonly _process: PythonProcess,
    readonly apiBase: string
  ) {}

  static async start(): Promise<ScriptedModel> {
    const started = new PythonProcess('tests.support.model_server');
    return new ScriptedModel(started, await started.line());
  }

  stop(): Promise<void> {
    return this._process.close('SIGTERM');
  }

  /** Append steps: one for each request that will come. */
  async script(...steps: Step[]): Promise<void> {
    await this._post('script', steps);
  }

  /** What requests are answered with when no step is left. */
  async always(step: Step): Promise<void> {
    await this._post('script', { steps: [], default: step });
  }

  /** Forget everything, and let what waits go. */
  async reset(): Promise<void> {
    await this._post('reset', {});
  }

  /** Let a stream that waits at a gate go on. */
  async release(count = 1): Promise<void> {
    await this._post('release', { count });
  }

  /** Wait until a stream waits at a gate. */
  async atGate(): Promise<void> {
    await expect
      .poll(async () => (await this.state()).waiting, {
        message: 'a model stream waits at a gate'
      })
      .toBeGreaterThan(0);
  }

  /** All requests until now. */
  requests(): Promise<IModelRequest[]> {
    return this._get('requests');
  }

  state(): Promise<IState> {
    return this._get('state');
  }

  /** Wait for the request with this number, from 1. */
  async request(number: number): Promise<IModelRequest> {
    await expect
      .poll(async () => (await this.state()).requests, {
        message: `the model was asked ${number} times`
      })
      .toBeGreaterThanOrEqual(number);
    return (await this.requests())[number - 1];
  }

  /** Wait until a request, counted from 1, has ended, and how. */
  async outcome(number: number): Promise<string | null> {
    const outcome = async () =>
      (await this.requests())[number - 1]?.outcome ?? null;
    await expect.poll(outcome).not.toBeNull();
    return outcome();
  }

  private async _get<T>(action: string): Promise<T> {
    const response = await this._fetch(action);
    return (await response.json()) as T;
  }

  private async _post(action: string, body: unknown): Promise<void> {
    const response = await this._fetch(action, {
      method: 'POST',
      body: JSON.stringify(body)
    });
    if (!response.ok) {
      throw new Error(`${action}: ${await response.text()}`);
    }
  }

  private async _fetch(action: string, init?: RequestInit): Promise<Response> {
    const url = `${this.apiBase.replace(/\/v1$/, '')}/__${action}__`;
    try {
      return await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
    } catch (error) {
      throw new Error(`The scripted model, ${action}: ${error}`);
    }
  }
}
