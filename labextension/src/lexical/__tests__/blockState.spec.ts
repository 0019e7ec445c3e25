import { $getRoot, $isElementNode, $isTextNode, LexicalNode } from 'lexical';

import { INode } from '../document';
import { BlockState } from '../rich/blockState';
import { makeLexicalEditor } from '../rich/lexicalEditor';

const text = (content: string, more: object = {}): INode => ({
  // Neither the order of Lexical's own keys, nor all of them, nor only these.
  text: content,
  type: 'text',
  version: 1,
  format: 0,
  'x-mark': [1],
  ...more
});

const EQUATION: INode = {
  inline: true,
  equation: 'a^2',
  type: 'equation',
  'x-own': 1,
  version: 1
};

const PARAGRAPH: INode = {
  version: 1,
  type: 'paragraph',
  direction: 'ltr',
  textFormat: 0,
  'x-id': 'p',
  children: [
    text('Some '),
    text('bold', { format: 1, style: 'color: red' }),
    EQUATION,
    { type: 'mention', version: 3, user: 'ann' },
    { type: 'linebreak', version: 1 },
    {
      type: 'link',
      version: 1,
      url: 'https://jupyter.org',
      'x-rank': 2,
      children: [text('Jupyter')]
    }
  ]
};

const item = (value: number, ...children: INode[]): INode => ({
  type: 'listitem',
  version: 1,
  value,
  'x-item': value,
  children
});

const LIST: INode = {
  type: 'list',
  version: 1,
  listType: 'bullet',
  start: 1,
  tag: 'ul',
  'x-list': true,
  children: [
    item(1, text('one')),
    item(2, {
      type: 'list',
      version: 1,
      listType: 'number',
      start: 1,
      tag: 'ol',
      children: [item(1, text('nested'), EQUATION)]
    })
  ]
};

function loaded(block: INode) {
  const errors: Error[] = [];
  const editor = makeLexicalEditor(
    node => document.createTextNode(node.type),
    error => void errors.push(error)
  );
  const state = new BlockState(editor, block);
  const isSame = state.load();
  const change = (act: () => void) => editor.update(act, { discrete: true });
  return { state, isSame, change, errors };
}

function textOf(content: string, node: LexicalNode = $getRoot()): LexicalNode {
  const found = (within: LexicalNode): LexicalNode | undefined =>
    $isTextNode(within) && within.getTextContent() === content
      ? within
      : $isElementNode(within)
        ? within.getChildren().map(found).find(Boolean)
        : undefined;
  return found(node)!;
}

describe('a block in Lexical', () => {
  it.each([
    ['a paragraph', PARAGRAPH],
    ['a list', LIST],
    [
      'a heading',
      { type: 'heading', tag: 'h2', version: 1, children: [text('T')] }
    ],
    ['a quotation', { type: 'quote', version: 1, children: [text('Q')] }],
    ['nothing', { type: 'paragraph', version: 1, children: [] }]
  ])('%s is printed as it was, byte for byte', (_, block) => {
    const { state, isSame, errors } = loaded(block);
    expect(errors).toEqual([]);
    expect(BlockState.takes(block)).toBe(true);
    expect(isSame).toBe(true);
    const blocks = state.blocks();
    expect(JSON.stringify(blocks)).toBe(JSON.stringify([block]));
    expect(state.isChanged(blocks)).toBe(false);
  });

  it('changes only what was changed', () => {
    const { state, change } = loaded(PARAGRAPH);
    change(() => {
      const node = textOf('bold');
      if ($isTextNode(node)) {
        node.setTextContent('bolder').toggleFormat('italic');
      }
    });
    const blocks = state.blocks();
    const expected = JSON.stringify([PARAGRAPH])
      .replace('"text":"bold"', '"text":"bolder"')
      .replace('"format":1', '"format":3');
    expect(JSON.stringify(blocks)).toBe(expected);
    expect(state.isChanged(blocks)).toBe(true);
  });

  it('changes an item of a list and not the others', () => {
    const { state, change } = loaded(LIST);
    change(() => {
      const node = textOf('nested');
      if ($isTextNode(node)) {
        node.setTextContent('deeper');
      }
    });
    expect(JSON.stringify(state.blocks())).toBe(
      JSON.stringify([LIST]).replace('nested', 'deeper')
    );
  });

  it('is not taken where it holds blocks that Lexical does not know', () => {
    const unknown = { type: 'fold', version: 1, children: [text('in')] };
    const within = { ...PARAGRAPH, children: [unknown] };
    expect(BlockState.takes(unknown)).toBe(false);
    expect(BlockState.takes(within)).toBe(false);
    expect(BlockState.takes({ type: 'table', version: 1, children: [] })).toBe(
      false
    );
  });

  it('is not taken where Lexical makes something else of it', () => {
    const twice = {
      ...PARAGRAPH,
      children: [
        { type: 'text', text: 'a', version: 1 },
        { type: 'text', text: 'b', version: 1 }
      ]
    };
    expect(loaded(twice).isSame).toBe(false);
  });
});
