import { KernelMessage } from '@jupyterlab/services';

import { drawableChart, isHarmlessMessage, isPlainModel } from '../harmless';

describe('the data of a chart', () => {
  it('is drawn without what no renderer loads and what brings HTML', () => {
    const chart = {
      $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
      usermeta: { embedOptions: { sourceHeader: '<script>1</script>' } },
      config: { plotlyServerURL: 'https://plot.ly', responsive: true },
      data: [
        { y: { dtype: 'i1', bdata: 'AB//CD' } },
        { source: 'data:image/png;base64,iVBOR//w0KGgo=' }
      ],
      title: { text: 'Costs <b>in</b> €/kg of $\\alpha$' }
    };
    const { data, title } = chart;
    expect(drawableChart(chart)).toEqual({
      data,
      title,
      config: { responsive: true }
    });
  });

  it.each([
    { data: { url: 'https://spy.example/?d=1' } },
    { data: { url: '//spy.example/' } },
    { data: { url: 'ht\ttp:/\n/spy.example/' } },
    { data: { url: '/\\spy.example/' } },
    { layout: { images: [{ source: 'http://spy.example/p.png' }] } },
    { text: ['<a href="https://spy.example/?d=1">more</a>'] },
    { config: { topojsonURL: 'https://spy.example/' } },
    { style: 'url(\\68ttps:\\2f\\2fspy.example)' },
    { source: 'data:image/svg+xml,<svg><image href="//spy.example"/></svg>' }
  ])('is held back where it may name another server: %j', chart => {
    expect(drawableChart(chart)).toBeNull();
  });

  it('is an object: a text is the address of one', () => {
    expect(drawableChart('chart.json')).toBeNull();
  });
});

const message = (
  data: object,
  buffers: ArrayBuffer[] = [],
  content: object = {}
) => ({ content: { data, ...content }, buffers }) as KernelMessage.IMessage;

const bytes = (text: string) =>
  Uint8Array.from(text, char => char.charCodeAt(0)).buffer;

const SLIDER = {
  _model_module: '@jupyter-widgets/controls',
  _view_module: '@jupyter-widgets/controls',
  description: 'n',
  value: 3
};

describe('a message to a widget', () => {
  it.each([
    message({ state: SLIDER }),
    message({ state: SLIDER }, [], { target_name: 'jupyter.widget' }),
    message({ method: 'update', state: { value: '100% <b>done</b> &lt;3' } }),
    message({ state: { outputs: [{ data: { 'text/plain': '<i>' } }] } }),
    message({ state: {} }, [bytes('\x89PNG\r\n//'), bytes('')])
  ])('is handled where it only shows something: %#', each => {
    expect(isHarmlessMessage(each)).toBe(true);
  });

  it.each([
    message({ state: { value: '<img src=x onerror="act()">' } }),
    message({ state: { value: '<script>act()</script>' } }),
    message({ state: { background: 'url(//spy.example)' } }),
    message({ state: { _view_module: 'anywidget', _esm: 'act()' } }),
    message({ state: { outputs: [{ data: { 'text/javascript': 'act()' } }] } }),
    message({ state: SLIDER }, [], { target_name: 'hv-extension-comm' }),
    message({ state: { format: 'url' } }, [bytes('  https://spy.example/')])
  ])('is held back where it may act or load something: %#', each => {
    expect(isHarmlessMessage(each)).toBe(false);
  });
});

it('a plain widget has its model and its view of a module that runs nothing', () => {
  expect(isPlainModel(SLIDER)).toBe(true);
  expect(isPlainModel({ ...SLIDER, _view_module: null })).toBe(true);
  expect(isPlainModel({ ...SLIDER, _view_module: 'anywidget' })).toBe(false);
  expect(isPlainModel({})).toBe(false);
  expect(isPlainModel(undefined)).toBe(false);
});
