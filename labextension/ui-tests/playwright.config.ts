import { cpus } from 'os';
import { join } from 'path';

import { defineConfig } from '@playwright/test';

import { findChromium } from './chromium';

export default defineConfig({
  testDir: '.',
  testMatch: '**/*.spec.ts',
  // They need Jupyter AI: see scripts/test-jupyter-ai.
  testIgnore: join(__dirname, 'jupyter-ai', '**'),
  globalSetup: require.resolve('./support/preloaded'),
  outputDir: 'results',
  // Each has a server, its kernels and a browser of its own, which keep a core busy but for a seventh
  // of the time. One more than cores uses it: 73 tests took 181 and 197 s, and 200 and 212 without.
  workers: Math.min(cpus().length + 1, 4),
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
