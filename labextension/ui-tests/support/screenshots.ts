import { mkdirSync } from 'fs';
import { join } from 'path';

import { expect } from '@playwright/test';

import { test } from './fixtures';
import { LabPage } from './lab';
import { REPOSITORY } from './process';

export type Theme = 'light' | 'dark';

const isForDocs = process.env.UPDATE_SCREENSHOTS === '1';

/** Pictures are for people to look at, and take a minute of the whole: `SCREENSHOTS=1` takes them. */
const isTaking = isForDocs || process.env.SCREENSHOTS === '1';

/** A test that is there for its pictures alone: what it does on the way is tested elsewhere. */
export const pictures = isTaking ? test : test.skip;

/** Screenshots go among the results, or into the documentation with `UPDATE_SCREENSHOTS=1`. */
const FOLDER = isForDocs
  ? join(REPOSITORY, 'docs', 'screenshots')
  : join(REPOSITORY, 'labextension', 'ui-tests', 'results', 'screenshots');

/** Choose JupyterLab's theme, and wait until it is there. */
export async function useTheme(lab: LabPage, theme: Theme): Promise<void> {
  const name = theme === 'light' ? 'JupyterLab Light' : 'JupyterLab Dark';
  await lab.page.evaluate(async name => {
    await window.jupyterapp.commands.execute('apputils:change-theme', {
      theme: name
    });
  }, name);
  await expect(lab.page.locator('body')).toHaveAttribute(
    'data-jp-theme-name',
    name
  );
  // A change of theme shows it over everything.
  await expect(lab.page.locator('#jupyterlab-splash')).toHaveCount(0);
}

/**
 * Take a picture in each theme (`NAME-dark`, `NAME-light`). JupyterLab is light afterwards, and the
 * keyboard where it was: a notebook that is laid out anew by a theme may take its cell off the page
 * for a moment.
 */
export async function shootBoth(
  lab: LabPage,
  name: string,
  what: 'window' | 'panel' = 'panel'
): Promise<void> {
  if (!isTaking) {
    return;
  }
  const focused = await lab.page.evaluateHandle(() => document.activeElement);
  for (const theme of ['dark', 'light'] as const) {
    await useTheme(lab, theme);
    await shoot(lab, `${name}-${theme}`, what);
  }
  await focused.evaluate(element => {
    if (document.activeElement === document.body) {
      (element as HTMLElement | null)?.focus({ preventScroll: true });
    }
  });
}

/** Take a picture of the window, or of the panel alone. */
export async function shoot(
  lab: LabPage,
  name: string,
  what: 'window' | 'panel' = 'panel'
): Promise<void> {
  if (!isTaking) {
    return;
  }
  mkdirSync(FOLDER, { recursive: true });
  const target = what === 'window' ? lab.page : lab.panel.root;
  await target.screenshot({
    path: join(FOLDER, `${name}.png`),
    animations: 'disabled',
    caret: 'hide'
  });
}
