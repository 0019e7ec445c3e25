import { execFileSync } from 'child_process';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * The system's Chromium, or `undefined` to use the browser that Playwright
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
