// From Enter in an inline chat to the first changed line, RUNS times: prints a JSON list of ms.
// Usage: node inline_latency.mjs ADDRESS RUNS [CHROMIUM]
import { createRequire } from 'module';

const require = createRequire(new URL('../labextension/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const [address, runs, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: executablePath || undefined,
  chromiumSandbox: process.getuid?.() !== 0,
  args: ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync']
});
const page = await browser.newPage();
await page.goto(address);
await page.locator('.jp-NotebookPanel .jp-Cell').first().waitFor({ timeout: 120000 });
await page.locator('[data-status="idle"], .jp-Notebook-ExecutionIndicator').first().waitFor();
const cell = page.locator('.jp-Cell').nth(3).locator('.cm-content');

async function once() {
  await cell.click();
  await page.keyboard.press('Control+i');
  await page.getByTestId('da-inline-input').waitFor();
  await page.keyboard.type('Change it');
  const took = await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        if (document.querySelector('.da-added-line')) {
          reject(new Error('A changed line is shown before anything was asked.'));
        }
        const began = performance.now();
        new MutationObserver((_, observer) => {
          if (document.querySelector('.da-added-line')) {
            observer.disconnect();
            resolve(performance.now() - began);
          }
        }).observe(document.body, { childList: true, subtree: true });
        document
          .querySelector('.da-inline textarea')
          .dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
      })
  );
  // Escape would keep the proposal for when the chat is opened again.
  await page.getByTestId('da-inline-reject').click();
  await page.getByTestId('da-inline').waitFor({ state: 'detached' });
  return took;
}

const times = [];
for (let run = 0; run < Number(runs); run++) {
  times.push(await once());
}
console.log(JSON.stringify(times));
await browser.close();
