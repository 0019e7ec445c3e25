import { ChildProcess, spawn } from 'child_process';
import { createInterface, Interface } from 'readline';
import { delimiter, join } from 'path';

/** The repository. */
export const REPOSITORY = join(__dirname, '..', '..', '..');

const PYTHONPATH = [
  REPOSITORY,
  join(REPOSITORY, 'tests', 'support', 'without')
].join(delimiter);

/** Longer than any answer takes, and shorter than a test may: what did not answer is named. */
const ANSWER_MS = 75_000;

/** A Python program of the tests that speaks in lines. */
export class PythonProcess {
  constructor(
    private readonly _module: string,
    ...args: string[]
  ) {
    const module = _module;
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
    return new Promise((resolve, reject) => {
      const late = () =>
        reject(new Error(`${this._module}: no answer in ${ANSWER_MS} ms.`));
      const timer = setTimeout(late, ANSWER_MS);
      this._waiting.push({
        resolve: line => {
          clearTimeout(timer);
          resolve(line);
        },
        reject: error => {
          clearTimeout(timer);
          reject(error);
        }
      });
    });
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
    const timer = setTimeout(() => {
      console.error(`${this._module} did not end in 30 s, and is killed.`);
      this._child.kill('SIGKILL');
    }, 30_000);
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
