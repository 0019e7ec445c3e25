import {
  RenderMimeRegistry,
  standardRendererFactories
} from '@jupyterlab/rendermime';

import { shownType } from '../MimeBundle';

const MOON = 'application/vnd.moon+json';
const CHART = 'application/vnd.vega.v5+json';

function registry(more: object) {
  const made = new RenderMimeRegistry({
    initialFactories: standardRendererFactories
  });
  const createRenderer = () => {
    throw new Error('Nothing is drawn here.');
  };
  for (const mimeType of [MOON, CHART]) {
    const extra = mimeType === MOON ? more : {};
    const factory = { safe: true, mimeTypes: [mimeType], createRenderer };
    made.addFactory({ ...factory, ...extra }, 0);
  }
  return made;
}

describe('the type of a tool result that is drawn', () => {
  it('is that of a renderer which says that it only shows', () => {
    const bundle = { [MOON]: { phase: 0.5 }, 'text/plain': 'Phase 0.5' };
    expect(shownType(registry({ onlyShows: true }), bundle)).toBe(MOON);
    for (const other of [
      {},
      { onlyShows: 'yes' },
      { onlyShows: true, safe: false }
    ]) {
      expect(shownType(registry(other), bundle)).toBe('text/plain');
    }
  });

  it('is not one that may run or load something', () => {
    const registered = registry({});
    for (const type of [CHART, 'image/svg+xml', 'application/javascript']) {
      expect(shownType(registered, { [type]: 'x' })).toBeUndefined();
      const both = { [type]: 'x', 'image/png': 'AAAA' };
      expect(shownType(registered, both)).toBe('image/png');
    }
  });

  it('is the richer one of text that the panel cleans', () => {
    const bundle = { 'text/html': '<b>5</b>', 'text/plain': '5' };
    expect(shownType(registry({}), bundle)).toBe('text/html');
  });
});
