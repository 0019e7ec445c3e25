import { KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

import { onlyShows } from '../notebook/agentMark';
import { isSimpleHtml } from '../notebook/simpleHtml';

/** Addresses that no renderer loads, and Vega's settings, which bring style sheets and HTML. */
const LEFT_OUT = ['$schema', 'plotlyServerURL', 'usermeta'];

/** The modules of widgets whose views run nothing of their author's. */
const MODULES = [
  '@jupyter-widgets/base',
  '@jupyter-widgets/controls',
  '@jupyter-widgets/output'
];

const WIDGET_TARGETS = ['jupyter.widget', 'jupyter.widget.version'];

/** How the state of a widget names another one. */
const MODEL = 'IPY_MODEL_';

/** A scheme, or two slashes: how an address of another server begins. */
const ADDRESS = /^([a-z][a-z\d+.-]*:|[\\/]{2})/i;

/** Numbers, and pictures in their addresses: two slashes mean nothing there. */
const NUMBERS = 'bdata';
const PICTURE = /^data:image\/(png|jpeg|gif|webp);base64,[\w+/=]*$/;

/** A chart's data as far as it is drawn without asking; null where it names another server. */
export function drawableChart(value: unknown): JSONObject | null {
  if (!isObject(value)) {
    // Vega takes a text for the address of its data.
    return null;
  }
  const chart = without(value, LEFT_OUT);
  if (isObject(chart.config)) {
    chart.config = without(chart.config, LEFT_OUT);
  }
  const isHarmless = holds(
    chart,
    (key, text) =>
      typeof text !== 'string' || key === NUMBERS || !namesServer(text)
  );
  return isHarmless ? chart : null;
}

/** Whether a message to a widget only shows something: no HTML that acts, and no other server. */
export function isHarmlessMessage(msg: KernelMessage.IMessage): boolean {
  const { data, target_name } = msg.content as {
    data?: unknown;
    target_name?: string;
  };
  return (
    (target_name === undefined || WIDGET_TARGETS.includes(target_name)) &&
    holds(data, isHarmlessPart) &&
    (msg.buffers ?? []).every(each => !ADDRESS.test(beginning(each)))
  );
}

/** Whether a widget's state only shows something. */
export function isHarmless(state: unknown): boolean {
  return holds(state, isHarmlessPart);
}

/** The ids of the widgets that a widget's state names. */
export function modelsIn(state: unknown): string[] {
  const ids: string[] = [];
  holds(state, (_, value) => {
    if (typeof value === 'string' && value.startsWith(MODEL)) {
      ids.push(value.slice(MODEL.length));
    }
    return true;
  });
  return ids;
}

function isHarmlessPart(key: string, value: unknown): boolean {
  if (key.includes('/')) {
    // An output within a widget.
    return onlyShows(key, value);
  }
  if (key.endsWith('_module')) {
    return value === null || MODULES.includes(value as string);
  }
  return (
    typeof value !== 'string' ||
    (!namesServer(value) && (!value.includes('<') || isSimpleHtml(value)))
  );
}

/** Whether the state of a model is that of a widget whose view runs nothing of its author's. */
export function isPlainModel(state: unknown): boolean {
  const { _model_module, _view_module } = (state ?? {}) as JSONObject;
  return [_model_module, _view_module].every(
    each => each === null || MODULES.includes(each as string)
  );
}

/** Two slashes, as a browser reads addresses, or an escape of a style sheet that may hide them. */
function namesServer(text: string): boolean {
  const read = text.replace(/[\t\n\r]/g, '');
  if (PICTURE.test(text)) {
    return false;
  }
  return (
    /[\\/]{2}/.test(read) || (/\\[\da-f]/i.test(read) && read.includes('('))
  );
}

function beginning(buffer: ArrayBuffer | ArrayBufferView): string {
  const bytes = ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
  const start = bytes.findIndex(byte => byte > 0x20);
  const text = String.fromCharCode(...bytes.subarray(start, start + 200));
  return start < 0 ? '' : text.replace(/[\t\n\r]/g, '');
}

function without(value: JSONObject, names: string[]): JSONObject {
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !names.includes(name))
  );
}

function isObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a test holds for each part of some JSON, by its name. */
function holds(
  value: unknown,
  test: (key: string, value: unknown) => boolean
): boolean {
  return (
    typeof value !== 'object' ||
    value === null ||
    Object.entries(value).every(
      ([key, part]) => test(key, part) && holds(part, test)
    )
  );
}
