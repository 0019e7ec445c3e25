import { pathsUnderRoot, relativePath } from '../links';

describe('a link', () => {
  it.each([
    ['data/cars.csv', 'data/cars.csv'],
    ['./a%20b.ipynb#cell', './a%20b.ipynb'.replace('%20', ' ')],
    ['../other.ipynb?x=1', '../other.ipynb']
  ])('%s is a path', (address, path) => {
    expect(relativePath(address)).toBe(path);
  });

  it.each([
    '',
    '#top',
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java%0Ascript:x',
    'javascript%3Aalert(1)',
    'https://example.com',
    '//example.com/x',
    '%2F%2Fexample.com',
    '/etc/passwd',
    'C:/x',
    'a%5Cb',
    '%ff'
  ])('%s is none', address => {
    expect(relativePath(address)).toBeNull();
  });

  it('means a file seen from the notebook, or from the root', () => {
    expect(pathsUnderRoot('data/a.csv', 'work/n.ipynb')).toEqual([
      'work/data/a.csv',
      'data/a.csv'
    ]);
    expect(pathsUnderRoot('./a.csv', null)).toEqual(['a.csv']);
    expect(pathsUnderRoot('../a.csv', 'work/n.ipynb')).toEqual(['a.csv']);
  });

  it('never leads out of the root', () => {
    expect(pathsUnderRoot('../../a.csv', 'work/n.ipynb')).toEqual([]);
    expect(pathsUnderRoot('work/../../a.csv', null)).toEqual([]);
  });
});
