import { copyFile, mkdtemp, rm } from 'fs/promises';
import { tmpdir } from 'os';
import { join } from 'path';

import { test as base, BrowserContext } from '@playwright/test';

import { LabPage, WINDOW } from './lab';
import { ScriptedModel } from './model';
import { PythonProcess } from './process';
import { LabServer } from './server';

export interface IOfWorker {
  /** Whether the server is given the scripted model, or of none at all. */
  withModel: boolean;
  /** More of the server's environment: keys of other providers, say. */
  environment: Record<string, string>;
  /** Whether the server has the package of docs/adding-a-service.md, installed by pip. */
  withExamplePackage: boolean;
  /** One for all tests of the worker; its script is forgotten before each. */
  workerModel: ScriptedModel;
  server: LabServer;
  /** One for all tests, so that JupyterLab is loaded and compiled once. */
  sharedContext: BrowserContext;
  /** The tab that a test with `keepsTab` left behind. */
  kept: { tab?: LabPage };
}

export interface IOfTest {
  /**
   * Whether to go on in the tab of the test before it in its folder, as a user does all day: its
   * documents are closed, its session is left. Loading JupyterLab takes a core four seconds. Not for
   * tests of how JupyterLab or the panel starts, nor for those that change what it is given then.
   */
  keepsTab: boolean;
  model: ScriptedModel;
  /** The right answer of the main job. */
  mean: number;
  /** JupyterLab in a tab of its own, with a folder of its own that holds `cars.csv` and `cars.ipynb`; nothing is loaded yet. */
  tab: LabPage;
  /** The same with `cars.ipynb` open. */
  lab: LabPage;
}

let folders = 0;

/** The tests' `test`, with a real server, a real kernel and a scripted model. */
export const test = base.extend<IOfTest, IOfWorker>({
  workerModel: [
    async ({}, use) => {
      const model = await ScriptedModel.start();
      await use(model);
      await model.stop();
    },
    { scope: 'worker' }
  ],

  withModel: [true, { option: true, scope: 'worker' }],

  environment: [{}, { option: true, scope: 'worker' }],

  withExamplePackage: [false, { option: true, scope: 'worker' }],

  server: [
    async (
      { workerModel, withModel, environment, withExamplePackage },
      use
    ) => {
      const server = await LabServer.start(
        withModel ? workerModel.apiBase : null,
        withExamplePackage
          ? { ...environment, PYTHONPATH: await examplePackage() }
          : environment
      );
      if (withModel) {
        // The first message makes the server load its model library, which takes seconds.
        await workerModel.always({ say: 'Ready.' });
        await server.api('datalayer-agent/chat', 'POST', { message: 'Ready?' });
      }
      await use(server);
      await server.close();
    },
    { scope: 'worker', timeout: 90_000 }
  ],

  sharedContext: [
    async ({ playwright, browserName, launchOptions }, use) => {
      // A context with files of its own: there Chromium keeps what it compiled of JupyterLab,
      // which halves the time of the next load.
      const files = await mkdtemp(join(tmpdir(), 'chromium-'));
      const context = await playwright[browserName].launchPersistentContext(
        files,
        { ...launchOptions, viewport: WINDOW }
      );
      await use(context);
      await context.close();
      await rm(files, { recursive: true, force: true });
    },
    { scope: 'worker' }
  ],

  kept: [
    async ({}, use) => {
      await use({});
    },
    { scope: 'worker' }
  ],

  keepsTab: [true, { option: true }],

  model: async ({ workerModel }, use) => {
    await workerModel.reset();
    await use(workerModel);
    const { errors } = await workerModel.state();
    await workerModel.reset();
    if (errors.length) {
      throw new Error(`The scripted model: ${errors.join('; ')}`);
    }
  },

  tab: async ({ sharedContext, server, kept, keepsTab }, use, info) => {
    const folder = `t${process.pid}-${++folders}`;
    await server.cars(folder);
    const before = keepsTab ? kept.tab : undefined;
    if (!before) {
      await kept.tab?.page.close();
    }
    kept.tab = undefined;
    const tab = before
      ? before.inFolder(folder)
      : new LabPage(await sharedContext.newPage(), server, folder);
    let loads = before ? 1 : 0;
    const count = () => void loads++;
    tab.page.on('load', count);
    await use(tab);
    tab.page.off('load', count);
    // At a mere reload JupyterLab opens once more, at some time, what the address names.
    const isKept = loads - tab.loadedAgain === 1 && tab.canBeKept;
    const isAsExpected = info.status === info.expectedStatus;
    if (keepsTab && isAsExpected && isKept) {
      await tab.leave();
      kept.tab = tab;
    } else {
      await tab.page.close();
    }
    if (!isAsExpected) {
      await copyFile(server.about.log, info.outputPath('server.log'));
    }
    await server.endTurns();
    await server.endKernels();
  },

  lab: async ({ tab }, use) => {
    await tab.load('cars.ipynb');
    await tab.notebook('cars.ipynb').ready();
    await tab.hasKeyboard();
    await use(tab);
  },

  mean: async ({ server }, use) => {
    const { mean } = await server.cars(`mean-${process.pid}-${++folders}`);
    await use(mean);
  }
});

/** Install the package in `given`, or that of the guide; the `PYTHONPATH` of a server that has it. */
export async function examplePackage(...given: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'package-'));
  const program = new PythonProcess('tests.support.packages', folder, ...given);
  const path = await program.line();
  await program.close();
  return path;
}

export { expect } from '@playwright/test';
