import { lexicalHints } from '../hints';

const text = (words: string) => ({ type: 'text', text: words });
const paragraph = (...children: object[]) => ({ type: 'paragraph', children });
const documentOf = (...children: object[]) =>
  JSON.stringify({ root: { type: 'root', children } });

describe('what a Lexical document gives to suggest', () => {
  it('is empty where nothing is written and nothing is shown', () => {
    expect(lexicalHints('').isEmpty).toBe(true);
    expect(lexicalHints(documentOf()).isEmpty).toBe(true);
    expect(lexicalHints(documentOf(paragraph(text('  ')))).isEmpty).toBe(true);
    expect(lexicalHints(documentOf(paragraph(text('words')))).isEmpty).toBe(
      false
    );
    expect(lexicalHints(documentOf(paragraph({ type: 'image' }))).isEmpty).toBe(
      false
    );
    for (const seen of [
      { type: 'horizontalrule' },
      paragraph({ type: 'equation', equation: 'a^2', inline: false }),
      { type: 'list', children: [] }
    ]) {
      expect(lexicalHints(documentOf(seen)).isEmpty).toBe(false);
    }
  });

  it('says nothing of a text that is no document', () => {
    expect(lexicalHints('{"cells": []}')).toEqual({ isEmpty: false });
    expect(lexicalHints('no JSON')).toEqual({ isEmpty: false });
  });

  it('names the first error that is shown', () => {
    const code = (uuid: string, output: object) => [
      {
        type: 'jupyter-input',
        jupyterInputNodeUuid: uuid,
        children: [text('1 / x')]
      },
      {
        type: 'jupyter-output',
        jupyterInputNodeUuid: uuid,
        outputs: [output]
      }
    ];
    const fine = code('a', { output_type: 'stream', text: 'KeyError' });
    expect(lexicalHints(documentOf(...fine)).error).toBeUndefined();
    const failed = code('b', { output_type: 'error', ename: 'NameError' });
    const later = code('c', { output_type: 'error', ename: 'KeyError' });
    expect(lexicalHints(documentOf(...fine, ...failed, ...later)).error).toBe(
      'NameError'
    );
    const nameless = code('b', { output_type: 'error' });
    expect(lexicalHints(documentOf(...nameless)).error).toBe('error');
  });
});
