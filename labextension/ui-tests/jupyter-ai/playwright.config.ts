import { defineConfig } from '@playwright/test';

import base from '../playwright.config';

/** For `scripts/test-jupyter-ai --browser`: the preloaded servers have another environment. */
export default defineConfig({
  ...base,
  testDir: '.',
  // Those of the base are its folders, which are not here.
  projects: undefined,
  globalSetup: undefined,
  outputDir: '../results',
  workers: 1,
  use: { ...base.use, actionTimeout: 15_000 }
});
