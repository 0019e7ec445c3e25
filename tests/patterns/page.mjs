// The regular expressions of the page's sources, and how long they read a text.
//
//   node page.mjs list              their places, sources and flags, as JSON
//   node page.mjs time < JSON       of [[index, before, run, after], …] those that take too long

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, Script } from 'node:vm';

const labextension = join(dirname(fileURLToPath(import.meta.url)), '../../labextension');
const ts = createRequire(join(labextension, 'package.json'))('typescript');

const SIZE = 1_000_000;
const SMALL = 10_000;
// Characters of what somebody wrote that are looked at; the constant is in the source.
const BOUNDS = { 'proposals/aboutNotebook.ts': 2_000 };
// Milliseconds. V8's expressions are compiled: they are faster than Python's.
const LEAST_LIMIT = 50;
const SUSPICIOUS = 1;

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== '__tests__') {
        yield* files(path);
      }
    } else if (/\.tsx?$/.test(entry.name)) {
      yield path;
    }
  }
}

function patterns() {
  const found = [];
  for (const path of files(join(labextension, 'src'))) {
    const place = relative(join(labextension, 'src'), path);
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
    const visit = node => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        found.push({ place, source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

const context = createContext({ pattern: /a/, text: '' });
const read = new Script(
  `pattern.global ? text.replace(pattern, '').length : pattern.test(text)`
);

/** Milliseconds of computing, the better of two tries; Infinity where both were ended. */
function time(pattern, text, limit) {
  let best = Infinity;
  for (let tries = 0; tries < 2 && best > limit / 10; tries++) {
    Object.assign(context, { pattern, text });
    pattern.lastIndex = 0;
    const before = process.cpuUsage();
    try {
      read.runInContext(context, { timeout: Math.ceil(20 * limit) });
    } catch (error) {
      if (error.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
        throw error;
      }
      continue;
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

// Flat: a text that is joined of pieces is copied when it is read first.
const text = (size, before, run, after) =>
  Buffer.from(before + run.repeat(size / run.length) + after).toString();

if (process.argv[2] === 'list') {
  console.log(JSON.stringify(patterns()));
} else {
  const every = patterns();
  const slow = [];
  const known = new Set();
  // A million matches of one letter take 30 to 60 ms by themselves, as the machine is.
  const limit = Math.max(LEAST_LIMIT, 3 * time(/a/g, text(SIZE, '', 'a', ''), LEAST_LIMIT));
  for (const [index, ...shape] of JSON.parse(readFileSync(0, 'utf8'))) {
    if (known.has(index)) {
      continue;
    }
    const { place, source, flags } = every[index];
    const size = BOUNDS[place] ?? SIZE;
    const pattern = new RegExp(source, flags);
    let taken = time(pattern, text(Math.min(size, SMALL), ...shape), limit);
    if (size > SMALL && taken > SUSPICIOUS && taken <= limit) {
      taken = time(pattern, text(size, ...shape), limit);
    }
    if (taken > limit) {
      known.add(index);
      slow.push([index, taken, ...shape]);
    }
  }
  console.log(JSON.stringify(slow));
}
