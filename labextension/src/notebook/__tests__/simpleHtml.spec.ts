import { readFileSync } from 'fs';
import { join } from 'path';

import { isActive } from '../agentMark';

const ROWS = JSON.parse(
  readFileSync(
    join(__dirname, '../../../../tests/notebook/simple_html.json'),
    'utf-8'
  )
) as Record<'simple' | 'active', string[]>;

describe('HTML of the agent', () => {
  it.each(ROWS.simple)('is only shown: %s', html => {
    expect(isActive({ 'text/html': html, 'text/plain': 'x' })).toBe(false);
  });

  it.each(ROWS.active)('is held back: %s', html => {
    expect(isActive({ 'text/html': html })).toBe(true);
  });
});
