import { Sanitizer } from '@jupyterlab/apputils';

import { PanelSanitizer, neutralise } from '../sanitizer';

describe('text by a model', () => {
  it('loads no image from an address, and shows the address instead', () => {
    const html = neutralise(
      '<p><img src="https://spy.example/p.png?q=secret" alt="a plot"></p>'
    );
    expect(html).not.toContain('<img');
    expect(html).toContain('https://spy.example/p.png?q=secret');
    expect(html).toContain('a plot');
  });

  it.each([
    '<img src="files/plot.png">',
    '<img src="//spy.example/p.png">',
    '<img srcset="https://spy.example/p.png 2x">',
    '<svg><image href="https://spy.example/p.png"></image></svg>',
    '<picture><source srcset="https://spy.example/a"><img src="x.png"></picture>',
    '<video poster="https://spy.example/p.png"></video>',
    '<audio src="https://spy.example/a.mp3"></audio>',
    '<iframe src="https://spy.example"></iframe>',
    '<div style="background: url(https://spy.example/p.png)">x</div>',
    '<div style="background: u\\72l(https://spy.example/p.png)">x</div>',
    '<table background="https://spy.example/p.png"></table>',
    '<link rel="stylesheet" href="https://spy.example/a.css">',
    '<style>@import "https://spy.example/a.css"</style>'
  ])('loads nothing: %s', html => {
    const node = document.createElement('div');
    node.innerHTML = neutralise(html);
    const loading = node.querySelectorAll(
      '[src]:not([src^="data:"]), [srcset], [poster], [background], [style*="url"], image, link, style, iframe'
    );
    expect(loading).toHaveLength(0);
    expect(node.innerHTML).not.toMatch(/\\72/);
  });

  it('keeps an image that is in the text itself', () => {
    const html = '<img src="data:image/png;base64,AAAA" alt="x">';
    expect(neutralise(html)).toContain('src="data:image/png;base64,AAAA"');
  });

  it('opens links in a tab that knows nothing of this one', () => {
    const node = document.createElement('div');
    node.innerHTML = neutralise('<a href="https://example.com">x</a>');
    const link = node.querySelector('a')!;
    expect(link.target).toBe('_blank');
    expect(link.rel).toBe('noopener noreferrer');
  });

  it.each(['javascript:alert(1)', '/lab?reset', 'data:text/html,x', 'a/b'])(
    'follows no link to %s',
    href => {
      const node = document.createElement('div');
      node.innerHTML = neutralise(`<a href="${href}">x</a>`);
      expect(node.querySelector('a')!.hasAttribute('href')).toBe(false);
    }
  );

  it.each(['javascript:alert(1)', '/lab?reset', '//spy.example/x', 'C:\\x'])(
    'says that %s is not followed',
    href => {
      const node = document.createElement('div');
      node.innerHTML = neutralise(`<a href="${href}">x</a>`);
      expect(node.textContent).toBe(`x (not followed: ${href})`);
      expect(node.querySelector('[data-da-path]')).toBeNull();
    }
  );

  it('marks a link to a file here, which no other attribute can pretend to be', () => {
    const node = document.createElement('div');
    node.innerHTML = neutralise(
      '<a href="data/a%20b.csv#top">x</a><span data-da-path="c">y</span>'
    );
    const marked = node.querySelectorAll<HTMLElement>('[data-da-path]');
    expect(marked).toHaveLength(1);
    expect(marked[0].dataset.daPath).toBe('data/a b.csv');
    expect(marked[0].tabIndex).toBe(0);
  });

  it('runs no JupyterLab command and takes no input', () => {
    const html = neutralise(
      '<a data-commandlinker-command="x" data-commandlinker-args="{}">x</a>' +
        '<form action="https://spy.example"><input name="key"><button>ok</button></form>'
    );
    expect(html).not.toMatch(/commandlinker|<form|<input|<button/);
  });

  it('goes through the sanitizer of JupyterLab first', () => {
    const html = new PanelSanitizer(new Sanitizer()).sanitize(
      '<p onclick="x()">ok<script>alert(1)</script></p>'
    );
    expect(html).toBe('<p>ok</p>');
  });
});
