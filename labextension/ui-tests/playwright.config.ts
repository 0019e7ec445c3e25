import { readdirSync } from 'fs';
import { cpus } from 'os';
import { dirname } from 'path';

import { defineConfig } from '@playwright/test';

import { findChromium } from './chromium';

/** Those that need Jupyter AI have a configuration of their own: see scripts/test-jupyter-ai. */
const APART = 'jupyter-ai';
const tests = readdirSync(__dirname, { recursive: true, encoding: 'utf8' });
const folders = [...new Set(tests.filter(isTest).map(dirname))].sort();

function isTest(path: string): boolean {
  return path.endsWith('.spec.ts') && dirname(path) !== APART;
}

export default defineConfig({
  testDir: '.',
  globalSetup: require.resolve('./support/preloaded'),
  outputDir: 'results',
  // A folder's files are run one after another, so that a tab that is kept has the same past each time.
  projects: folders.map(folder => ({
    name: folder,
    testMatch: `${folder}/*.spec.ts`,
    workers: 1
  })),
  // Each has a server, its kernels and a browser of its own, which keep a core busy but for a seventh
  // of the time. One more than cores uses it: 73 tests took 181 and 197 s, and 200 and 212 without.
  workers: Math.min(cpus().length + 1, folders.length),
  timeout: 90_000,
  expect: { timeout: 15_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    // `--trace on` shows more of a failure; it makes the tests several times slower.
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath: findChromium(),
      // Chromium's own sandbox does not start for root, as in most containers.
      chromiumSandbox: process.getuid?.() !== 0
    }
  }
});
