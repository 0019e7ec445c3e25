import { execFileSync } from 'child_process';

// The headless shell first: without the parts of a browser that no test sees, the tests take a
// seventh less time.
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome'
];

/**
 * The system's Chromium, its headless shell where there is one, or `undefined` to use the browser that Playwright
 * downloaded. `DATALAYER_AGENT_CHROMIUM` names another one.
 */
export function findChromium(): string | undefined {
  const chosen = process.env.DATALAYER_AGENT_CHROMIUM;
  if (chosen) {
    return chosen;
  }
  for (const name of NAMES) {
    try {
      // As scripts/chromium.sh does: a name may be a stub that only says what to install.
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      continue;
    }
  }
  return undefined;
}
