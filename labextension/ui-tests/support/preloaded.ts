import { mkdtemp, rm } from 'fs/promises';
import { tmpdir } from 'os';
import { join } from 'path';

import { PythonProcess } from './process';

/**
 * Start the processes that all servers and kernels of the tests are made by: see
 * `tests/support/preloaded`. Elsewhere than on Linux they start on their own.
 */
export default async function begin(): Promise<() => Promise<void>> {
  if (process.platform !== 'linux') {
    return async () => undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), 'preloaded-'));
  const started = ['servers', 'kernels'].map(kind => {
    const path = join(folder, kind);
    process.env[`PRELOADED_${kind.toUpperCase()}`] = path;
    return new PythonProcess('tests.support.preloaded.process', kind, path);
  });
  await Promise.all(started.map(each => each.line()));
  return async () => {
    await Promise.all(started.map(each => each.close()));
    await rm(folder, { recursive: true, force: true });
  };
}
