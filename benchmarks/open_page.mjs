// Opens an address in Chromium, prints "open" when the notebook's cells are there, and stays until
// standard input is closed. Usage: node open_page.mjs ADDRESS [CHROMIUM]
import { createRequire } from 'module';

const require = createRequire(new URL('../labextension/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const [address, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: executablePath || undefined,
  chromiumSandbox: process.getuid?.() !== 0,
  args: ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync']
});
const page = await browser.newPage();
await page.goto(address);
await page.locator('.jp-NotebookPanel .jp-Cell').first().waitFor({ timeout: 120000 });
// It may be hidden in a narrow toolbar.
const indicator = page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]');
await indicator.first().waitFor({ state: 'attached' });
console.log('open');
process.stdin.resume();
process.stdin.on('end', async () => {
  await browser.close();
  process.exit(0);
});
