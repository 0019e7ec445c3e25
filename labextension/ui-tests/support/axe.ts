import axe from 'axe-core';
import { Page } from '@playwright/test';

/** The colours of code are those of JupyterLab's theme: see `faintCode`. */
const THEIRS = ['.da-code code span', '.da-sides td span:not(.da-sign)'];

/**
 * What axe finds serious or critical within elements of ours, a line each: the rule, the element, and
 * what is wrong. At least one of them has to be there: without any, axe would look at all of JupyterLab.
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
      const include = ours.filter(each => document.querySelector(each));
      if (!include.length) {
        return [`there is no ${ours.join(', ')}`];
      }
      const { violations } = await axe.run(
        {
          include,
          exclude: theirs.filter(each => document.querySelector(each))
        },
        { resultTypes: ['violations'] }
      );
      document.body.style.minHeight = '';
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

/**
 * Code that is less legible within these elements than in a plain cell of the theme, a line each.
 *
 * The theme's own colours are often under 4.5 to 1; what we put under them may not take any of it.
 */
export function faintCode(
  page: Page,
  ...selectors: string[]
): Promise<string[]> {
  return page.evaluate(selectors => {
    const context = document
      .createElement('canvas')
      .getContext('2d', { willReadFrequently: true })!;
    type Pixel = readonly number[];
    const drawn = (colours: readonly string[]): Pixel => {
      context.clearRect(0, 0, 1, 1);
      for (const colour of colours) {
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
      }
      return [...context.getImageData(0, 0, 1, 1).data];
    };
    const light = (pixel: Pixel) =>
      pixel
        .slice(0, 3)
        .map(part => part / 255)
        .map(part =>
          part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
        )
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    const contrast = (one: Pixel, other: Pixel) => {
      const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    };
    const plain = getComputedStyle(document.body)
      .getPropertyValue('--jp-cell-editor-background')
      .trim();
    const spans = [...document.querySelectorAll(selectors.join(','))];
    if (!spans.length) {
      return ['there is no code'];
    }
    return spans.flatMap(span => {
      const behind: string[] = [];
      for (let at: Element | null = span; at; at = at.parentElement) {
        behind.unshift(getComputedStyle(at).backgroundColor);
      }
      const { color } = getComputedStyle(span);
      const ours = contrast(drawn([color]), drawn(behind));
      const theirs = contrast(drawn([color]), drawn([plain]));
      return ours < theirs - 0.05
        ? [
            `${span.outerHTML}: ${ours.toFixed(2)}, in a cell ${theirs.toFixed(2)}`
          ]
        : [];
    });
  }, selectors);
}
