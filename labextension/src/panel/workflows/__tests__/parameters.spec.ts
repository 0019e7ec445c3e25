import { WorkflowInfo } from '../../../api/types';
import {
  formOf,
  parametersFrom,
  problemsIn,
  formatWorkflow
} from '../parameters';

const optional = (type: string, extra: object = {}) => ({
  anyOf: [{ type, ...extra }, { type: 'null' }],
  default: null
});

function workflow(properties: object, required: string[] = []): WorkflowInfo {
  return {
    id: 'explore',
    name: 'Explore',
    description: '',
    requiredTools: [],
    steps: [],
    parameters: { properties, required }
  };
}

const EXPLORE = workflow(
  {
    notebook: optional('string'),
    data: { type: 'string', description: 'A file.' },
    task: optional('string', { enum: ['classification', 'regression'] }),
    dateColumn: optional('string'),
    maxDepth: { type: 'integer', default: 3 },
    shuffle: { type: 'boolean', default: true }
  },
  ['data']
);

describe('the form of a workflow', () => {
  it('asks first for what cannot be left out', () => {
    const { first, more } = formOf(EXPLORE);
    expect(first.map(({ name, kind }) => [name, kind])).toEqual([
      ['data', 'data']
    ]);
    expect(more.map(({ label, kind }) => [label, kind])).toEqual([
      ['Notebook to write', 'text'],
      ['Task', 'choice'],
      ['Date column', 'text'],
      ['Max depth', 'number'],
      ['Shuffle', 'switch']
    ]);
    expect(more[1].choices).toEqual(['classification', 'regression']);
    expect(more[3].initial).toBe('3');
  });

  it('sends what was filled in, and leaves out what is empty', () => {
    const form = formOf(EXPLORE);
    const values = { data: ' cars.csv ', notebook: ' ', shuffle: 'false' };
    expect(parametersFrom(form, values)).toEqual({
      data: 'cars.csv',
      maxDepth: 3,
      shuffle: false
    });
  });

  it('says that no data file is meant, where one may be left out', () => {
    const form = formOf(workflow({ data: optional('string') }));
    expect(form.first).toHaveLength(1);
    expect(parametersFrom(form, {})).toEqual({ data: null });
  });

  it('says what is wrong with what was filled in', () => {
    const form = formOf(EXPLORE);
    expect(problemsIn(form, { maxDepth: 'deep' })).toEqual({
      data: 'Data file is required.',
      maxDepth: 'Max depth is a number.'
    });
    expect(problemsIn(form, { data: 'cars.csv' })).toEqual({});
  });

  it('is named after what it is about', () => {
    expect(formatWorkflow('Explore', { data: 'a/cars.csv' })).toBe(
      'Explore of cars.csv'
    );
    expect(formatWorkflow('Explore', { data: null })).toBe('Explore');
  });
});
