// Opens JupyterLab in Chromium and prints, as JSON, when what is seen first was there (ms since the
// navigation): the first paint, the restored layout, the notebook's first cell, its kernel.
// Usage: node first_paint.mjs ADDRESS with|without [CHROMIUM]
// "without": the server does not hear that the panel is shown.
import { createRequire } from 'module';

const require = createRequire(new URL('../labextension/package.json', import.meta.url));
const { chromium } = require('playwright-core');

const [address, kind, executablePath] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: executablePath || undefined,
  chromiumSandbox: process.getuid?.() !== 0,
  args: ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync']
});
const page = await browser.newPage();
let shown = false;
// Both kinds go through this, so that it costs them the same.
await page.routeWebSocket(/datalayer-agent\/page/, socket => {
  const server = socket.connectToServer();
  socket.onMessage(message => {
    const isShown = message === '{"type":"panel_shown"}';
    shown ||= isShown;
    if (!isShown || kind === 'with') {
      server.send(message);
    }
  });
});
await page.goto(address);
const since = () => page.evaluate(() => performance.now());
await page.waitForFunction(() => window.jupyterapp !== undefined);
await page.evaluate(() => window.jupyterapp.restored);
const restored = await since();
await page.locator('.jp-NotebookPanel .jp-Cell').first().waitFor({ timeout: 120000 });
const cell = await since();
// The indicator shows "idle" before there is a kernel.
await page.waitForFunction(
  () => window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle',
  undefined, { timeout: 120000 }
);
const kernel = await since();
const paint = await page.evaluate(
  () => performance.getEntriesByName('first-contentful-paint')[0].startTime
);
await page.getByTestId('da-input').waitFor();
console.log(JSON.stringify({ paint, restored, cell, kernel, shown }));
await browser.close();
