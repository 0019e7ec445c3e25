import type { ICodeCellModel } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import type { IOutputModel } from '@jupyterlab/rendermime';

import type { PageCell } from '../api';

/** Of more cells only those are read that are selected, and errors. */
export const BRIEF_CELLS = 150;
const BRIEF_CHARACTERS = 1000;
const TRACE_CHARACTERS = 20_000;

type Outputs = NonNullable<PageCell['outputs']>;

/**
 * The outputs of a cell as a context needs them: texts until they have 1,000 characters, pictures
 * empty, and every error. The server makes the same of a file (`notebook/brief_outputs.py`).
 *
 * It reads the models: the shared model copies every picture when it is asked for the outputs.
 */
export function briefOutputs(
  { outputs }: ICodeCellModel,
  errorsOnly = false
): Outputs {
  const kept: Outputs = [];
  let left = BRIEF_CHARACTERS;
  for (let index = 0; index < outputs.length; index++) {
    const output = outputs.get(index);
    if (output.type === 'error') {
      kept.push(error(output.toJSON(), errorsOnly ? 0 : TRACE_CHARACTERS));
    } else if (!errorsOnly && left > 0 && output.type === 'stream') {
      const text = streamText(output).slice(0, left);
      left -= text.length;
      const name = output.toJSON().name as string;
      kept.push({ output_type: 'stream', name, text });
    } else if (!errorsOnly && left > 0) {
      const data = bundle(output, left);
      const lengths = Object.values(data).map(value =>
        typeof value === 'string' ? value.length : 1
      );
      left -= Math.max(1, ...lengths);
      kept.push({ output_type: 'display_data', data });
    }
  }
  return kept;
}

function streamText(output: IOutputModel): string {
  return output.streamText?.text ?? '';
}

function error(output: IOutput, most: number): Outputs[number] {
  const traceback = (output.traceback ?? []) as string[];
  const length = traceback.reduce((sum, line) => sum + line.length, 0);
  return {
    output_type: 'error',
    ename: String(output.ename ?? ''),
    evalue: String(output.evalue ?? '').slice(0, 2 * BRIEF_CHARACTERS),
    traceback: length <= most ? traceback : []
  };
}

function bundle(output: IOutputModel, most: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(output.data).map(([mime, value]) => [
      mime,
      brief(mime, value, most)
    ])
  );
}

function brief(mime: string, value: unknown, most: number): unknown {
  if (mime === 'application/json' && typeof value !== 'string') {
    const written = JSON.stringify(value);
    return written.length <= most ? value : written.slice(0, most);
  }
  const text = Array.isArray(value) ? value.join('') : value;
  if (typeof text !== 'string') {
    return {};
  }
  if (['text/plain', 'text/markdown', 'application/json'].includes(mime)) {
    return text.slice(0, most);
  }
  const isText =
    mime.startsWith('text/') ||
    mime === 'image/svg+xml' ||
    mime === 'application/javascript';
  // HTML says less than its length.
  return isText ? text.slice(0, 20 * most) : '';
}
