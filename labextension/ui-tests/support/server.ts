import { setTimeout } from 'timers/promises';

import type * as nbformat from '@jupyterlab/nbformat';

import { PythonProcess } from './process';

interface IAbout {
  url: string;
  token: string;
  root: string;
  log: string;
}

/** A cell of a notebook to be written. */
export interface INewCell {
  source: string;
  type?: 'code' | 'markdown';
  id?: string;
}

/** A real JupyterLab server with folders of its own: see `tests/support/lab.py`. */
export class LabServer {
  private constructor(
    private readonly _process: PythonProcess,
    readonly about: IAbout
  ) {}

  static async start(
    apiBase: string | null,
    environment: Record<string, string> = {}
  ): Promise<LabServer> {
    const started = new PythonProcess(
      'tests.support.lab',
      ...(apiBase ? ['--api-base', apiBase] : []),
      ...Object.entries(environment).flatMap(([name, value]) => [
        '--env',
        `${name}=${value}`
      ])
    );
    return new LabServer(started, JSON.parse(await started.line()) as IAbout);
  }

  close(): Promise<void> {
    return this._process.close();
  }

  /** A folder with real cars; the right answer of the main job. */
  cars(folder: string): Promise<{ mean: number }> {
    return this._do('cars', { folder });
  }

  /** Write a notebook. */
  notebook(
    path: string,
    cells: INewCell[],
    kernel: 'python3' | 'bash' = 'python3'
  ): Promise<void> {
    return this._do('notebook', { path, cells, kernel });
  }

  /** Write a text file. */
  text(path: string, text: string): Promise<void> {
    return this._do('text', { path, text });
  }

  /** The notebook on disk, which must be valid. */
  read(path: string): Promise<nbformat.INotebookContent> {
    return this._do('read', { path });
  }

  /** `kill -9`. */
  kill(): Promise<void> {
    return this._do('kill');
  }

  /** Start it again, on the same folders and port. */
  startAgain(): Promise<void> {
    return this._do('start');
  }

  /** Send its process a signal. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    return this._do('signal', { name });
  }

  /** The JSON of one of the server's routes (`datalayer-agent/sessions`). */
  async api<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
    const response = await fetch(this.about.url + path, {
      method,
      headers: { Authorization: `token ${this.about.token}` },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(75_000)
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${text}`);
    }
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** Send what only a user decides, as from another page: a token alone does not. */
  decide(path: string, method: 'POST' | 'PUT' | 'PATCH', body: unknown) {
    return this._do<void>('decide', { path, method, body });
  }

  /** Stop every turn that runs or waits: it would take the next test's answers of the model. */
  async endTurns(): Promise<void> {
    for (;;) {
      const { sessions } = await this.api<{
        sessions: { id: string; runningTurnId?: string }[];
      }>('datalayer-agent/sessions');
      const running = sessions.filter(session => session.runningTurnId);
      if (!running.length) {
        return;
      }
      for (const { id } of running) {
        await this.api(`datalayer-agent/sessions/${id}/ops`, 'POST', {
          type: 'interrupt'
        });
      }
      await setTimeout(100);
    }
  }

  /** End every kernel. */
  async endKernels(): Promise<void> {
    const sessions = await this.api<{ id: string }[]>('api/sessions');
    await Promise.all(
      sessions.map(({ id }) => this.api(`api/sessions/${id}`, 'DELETE'))
    );
  }

  private async _do<T>(
    name: string,
    args: Record<string, unknown> = {}
  ): Promise<T> {
    const answer = JSON.parse(
      await this._process.ask(JSON.stringify({ do: name, ...args }))
    ) as { ok?: T; error?: string };
    if (answer.error !== undefined) {
      throw new Error(`${name}: ${answer.error}`);
    }
    return answer.ok as T;
  }
}
