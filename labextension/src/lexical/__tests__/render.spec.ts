import { blocksOf, INode } from '../document';
import { IRendering, renderBlock } from '../render';

const opened: string[] = [];
const RENDERING: IRendering = {
  latex: null,
  resolver: null,
  languages: null,
  openLink: path => void opened.push(path)
};

const paragraph = (...children: INode[]): INode => ({
  type: 'paragraph',
  children
});
const text = (content: string, format = 0): INode => ({
  type: 'text',
  text: content,
  format
});
const shown = (node: INode) => renderBlock(node, RENDERING);

describe('the elements of a block', () => {
  it('have the formats of its texts', () => {
    const { innerHTML } = shown(paragraph(text('a', 3), text('b', 16)));
    expect(innerHTML).toBe('<em><strong>a</strong></em><code>b</code>');
  });

  it('hold text as text', () => {
    const element = shown(paragraph(text('<img src=x onerror=alert(1)>')));
    expect(element.children).toHaveLength(0);
    expect(element.textContent).toContain('<img');
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.org',
    'vbscript:x'
  ])('do not lead to %s', url => {
    const link = { type: 'link', url, children: [text('x')] };
    expect(shown(paragraph(link)).querySelector('a')!.href).toBe('');
    const image = { type: 'image', src: url, altText: '' };
    expect(shown(paragraph(image)).querySelector('img')?.src ?? '').toBe('');
  });

  it('open a document of the server in JupyterLab', () => {
    const link = { type: 'link', url: 'a/b.ipynb', children: [text('x')] };
    shown(paragraph(link)).querySelector('a')!.click();
    expect(opened).toEqual(['a/b.ipynb']);
  });

  it('load an image of another server when it is asked for', () => {
    const image = { type: 'image', src: 'https://a.org/b.png', altText: 'B' };
    const element = shown(paragraph(image));
    expect(element.querySelector('img')).toBeNull();
    const button = element.querySelector('button')!;
    expect(button.textContent).toBe('Load image “B” from a.org');
    button.click();
    expect(element.querySelector('img')!.src).toBe('https://a.org/b.png');
  });

  // A resolver of JupyterLab leaves an address that begins with a slash as it is.
  it.each([
    '/\\evil.org/a.png',
    ' //evil.org/a.png',
    '\\\\evil.org/a.png',
    '/\n/evil.org/a'
  ])(
    'do not load %j unasked, which a browser reads as another server',
    async src => {
      const image = { type: 'image', src, altText: '' };
      const element = renderBlock(paragraph(image), {
        ...RENDERING,
        resolver: {
          resolveUrl: async url => url,
          getDownloadUrl: async url => url
        }
      });
      await new Promise(done => setTimeout(done));
      expect(element.querySelector('img')).toBeNull();
      expect(element.textContent).toContain('from evil.org');
    }
  );

  it('nest lists in the item before them', () => {
    const item = (...children: INode[]): INode => ({
      type: 'listitem',
      children
    });
    const inner = {
      type: 'list',
      listType: 'number',
      start: 3,
      children: [item(text('b'))]
    };
    const element = shown({
      type: 'list',
      listType: 'bullet',
      children: [item(text('a')), item(inner)]
    });
    expect(element.outerHTML).toBe(
      '<ul><li>a<ol start="3"><li>b</li></ol></li></ul>'
    );
  });

  it('say what cannot be shown', () => {
    const element = shown({ type: 'poll', children: [text('kept')] });
    expect(element.textContent).toContain('A block of type poll');
    expect(element.textContent).toContain('kept');
  });
});

describe('the blocks of a document', () => {
  const of = (...children: INode[]) =>
    blocksOf(JSON.stringify({ root: { type: 'root', children } }));

  it('have their outputs, wherever these stand', () => {
    const output = (uuid: string, put: unknown[]): INode => ({
      type: 'jupyter-output',
      jupyterInputNodeUuid: uuid,
      outputs: put
    });
    const input = { type: 'jupyter-input', jupyterInputNodeUuid: 'a' };
    const blocks = of(input, paragraph(), output('a', [1]), output('b', [2]));
    expect(
      blocks.map(({ node, index, outputs }) => [node.type, index, outputs])
    ).toEqual([
      ['jupyter-input', 0, [1]],
      ['paragraph', 1, []],
      ['jupyter-output', 3, [2]]
    ]);
  });

  it.each(['', '[]', '{}', '{"root":{"type":"root"}}', 'null'])(
    'are not in %j',
    content => {
      expect(() => blocksOf(content)).toThrow();
    }
  );
});
