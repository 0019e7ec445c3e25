import { ChildProcess, spawn } from 'child_process';
import { createInterface, Interface } from 'readline';
import { delimiter, join } from 'path';

/** The repository. */
export const REPOSITORY = join(__dirname, '..', '..', '..');

const PYTHONPATH = [
  REPOSITORY,
  join(REPOSITORY, 'tests', 'support', 'without')
].join(delimiter);

/** A Python program of the tests that speaks in lines. */
export class PythonProcess {
  constructor(module: string, ...args: string[]) {
    this._child = spawn('python', ['-m', module, ...args], {
      cwd: REPOSITORY,
      env: { ...process.env, PYTHONPATH, PYTHONUNBUFFERED: '1' },
      stdio: ['pipe', 'pipe', 'inherit']
    });
    this._lines = createInterface({ input: this._child.stdout! });
    this._lines.on('line', line => {
      const waiting = this._waiting.shift();
      if (waiting) {
        waiting.resolve(line);
      } else {
        this._unread.push(line);
      }
    });
    this._ended = new Promise(resolve => {
      this._child.on('exit', code => {
        const error = new Error(`${module} ended with ${code}.`);
        this._waiting.splice(0).forEach(({ reject }) => reject(error));
        resolve();
      });
    });
  }

  /** The next line that it prints. */
  line(): Promise<string> {
    const unread = this._unread.shift();
    if (unread !== undefined) {
      return Promise.resolve(unread);
    }
    if (this._child.exitCode !== null) {
      return Promise.reject(new Error('The process has ended.'));
    }
    return new Promise((resolve, reject) =>
      this._waiting.push({ resolve, reject })
    );
  }

  /** Write a line; its answer is the next line. */
  ask(text: string): Promise<string> {
    const answer = this.line();
    this._child.stdin!.write(`${text}\n`);
    return answer;
  }

  /** Close its input and wait for its end; it is killed where that is no end to it. */
  async close(signal?: NodeJS.Signals): Promise<void> {
    if (this._child.exitCode !== null) {
      return;
    }
    this._child.stdin!.end();
    if (signal) {
      this._child.kill(signal);
    }
    const timer = setTimeout(() => this._child.kill('SIGKILL'), 30_000);
    await this._ended;
    clearTimeout(timer);
    this._lines.close();
  }

  private readonly _child: ChildProcess;
  private readonly _lines: Interface;
  private readonly _ended: Promise<void>;
  private readonly _unread: string[] = [];
  private readonly _waiting: {
    resolve: (line: string) => void;
    reject: (error: Error) => void;
  }[] = [];
}
