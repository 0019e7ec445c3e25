import { hostOf, loadPicture } from '../remotePictures';
import { neutralise } from '../sanitizer';

describe('a picture of another server', () => {
  it.each([
    ['https://spy.example/p?d=1', 'spy.example'],
    ['//spy.example:8080/p', 'spy.example:8080'],
    ['HTTPS://trusted.example@spy.example/', 'spy.example'],
    ['files/p.png', null],
    ['data:image/png;base64,AA', null],
    ['javascript:alert(1)', null],
    ['https://', null]
  ])('%s is of %s', (address, host) => {
    expect(hostOf(address)).toBe(host);
  });

  it('is loaded when its button is clicked, and what only looks like one is not', () => {
    const node = document.createElement('div');
    node.innerHTML = neutralise(
      '<img src="https://spy.example/p" alt="a plot">' +
        '<span class="da-remote-picture" data-da-picture="https://spy.example/q">x</span>'
    );
    const [button, pretender] =
      node.querySelectorAll<HTMLElement>('.da-remote-picture');
    expect(button.textContent).toBe(
      'Load the picture “a plot” from spy.example'
    );
    expect(loadPicture(pretender)).toBe(false);
    expect(loadPicture(button)).toBe(true);
    const [image, ...more] = node.querySelectorAll('img');
    expect(image.src).toBe('https://spy.example/p');
    expect(image.referrerPolicy).toBe('no-referrer');
    expect(more).toHaveLength(0);
  });

  it('is left to JupyterLab in a document where it is an own file', () => {
    const html =
      '<img src="plots/a.png"><img src="attachment:b.png"><img src="../c.png">';
    expect(neutralise(html, { resolvesPaths: true })).toBe(html);
    expect(neutralise(html)).not.toContain('<img');
    expect(
      neutralise('<img src="/logout">', { resolvesPaths: true })
    ).not.toContain('<img');
  });
});

describe('a link', () => {
  it('says the host that it leads to, unless its text does', () => {
    const node = document.createElement('div');
    node.innerHTML = neutralise(
      '<a href="https://spy.example/?d=1">docs</a><a href="https://spy.example/">https://spy.example</a>'
    );
    const [docs, itself] = node.querySelectorAll('a');
    expect(docs.textContent).toBe('docs (spy.example)');
    expect(docs.title).toBe('https://spy.example/?d=1');
    expect(itself.textContent).toBe('https://spy.example');
  });
});
