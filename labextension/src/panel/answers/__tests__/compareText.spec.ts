import { readCompareText } from '../compareText';

const KNOWN = [
  { id: 'anthropic/claude-opus-5-5', label: 'Claude Opus 5.5' },
  { id: 'openai/gpt-6.1-sol', label: 'GPT-6.1 Sol' },
  { id: 'azure/gpt-6.1-sol', label: 'gpt-6.1-sol' },
  { id: 'ollama_chat/qwen3', label: 'qwen3' }
];

const read = (text: string) => readCompareText(text, KNOWN);

test('models are named by id, by what follows the provider, or by their label', () => {
  expect(
    read('@anthropic/claude-opus-5-5 @QWEN3, @openai/gpt-6.1-sol Why?')
  ).toEqual({
    models: [
      'anthropic/claude-opus-5-5',
      'ollama_chat/qwen3',
      'openai/gpt-6.1-sol'
    ],
    unknown: [],
    question: 'Why?'
  });
  expect(read('@claude-opus-5.5 Why?').models).toEqual([
    'anthropic/claude-opus-5-5'
  ]);
});

test('a name of several models, or of none, is unknown', () => {
  expect(read('@gpt-6.1-sol @nobody Why?')).toEqual({
    models: [],
    unknown: ['gpt-6.1-sol', 'nobody'],
    question: 'Why?'
  });
});

test('a file after the models belongs to the question, as does an @ within it', () => {
  expect(read('@qwen3 @claude-opus-5-5 @cars.csv is what?')).toEqual({
    models: ['ollama_chat/qwen3', 'anthropic/claude-opus-5-5'],
    unknown: [],
    question: '@cars.csv is what?'
  });
  expect(read('What is in @cars.csv?').question).toBe('What is in @cars.csv?');
});

test('a model that is named twice counts once, and no question is an empty one', () => {
  expect(read('@qwen3 @ollama_chat/qwen3')).toEqual({
    models: ['ollama_chat/qwen3'],
    unknown: [],
    question: ''
  });
  expect(read('').question).toBe('');
});
