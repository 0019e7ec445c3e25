import axe from 'axe-core';
import { Page } from '@playwright/test';

/** The colours of code are those of JupyterLab's theme. */
const THEIRS = ['.da-code code span', '.da-sides td span:not(.da-sign)'];

/**
 * What axe finds serious or critical within elements of ours, a line each: the rule, the element, and
 * what is wrong.
 */
export async function seriousFaults(
  page: Page,
  ...selectors: string[]
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.addScriptTag({ content: axe.source });
  }
  return page.evaluate(
    async ([ours, theirs]) => {
      // JupyterLab's body has no height and hides what overflows: axe would take all text for unseen.
      document.body.style.minHeight = '100vh';
      const { axe } = window as unknown as { axe: typeof import('axe-core') };
      const { violations } = await axe.run(
        {
          include: ours.filter(each => document.querySelector(each)),
          exclude: theirs.filter(each => document.querySelector(each))
        },
        { resultTypes: ['violations'] }
      );
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) =>
          nodes.map(({ html, any, all, none }) => {
            const why = [...any, ...all, ...none].map(({ message }) => message);
            return `${id}: ${html.slice(0, 160)} (${why.join('; ').slice(0, 200)})`;
          })
        );
    },
    [selectors, THEIRS]
  );
}
