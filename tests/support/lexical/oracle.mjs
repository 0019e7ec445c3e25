/**
 * Lexical's own parser as the judge: reads documents from stdin, a line each, and answers for each
 * with a line of JSON: `{ok, text}` with the state that it prints, or `{ok: false, error}`.
 */
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(
  new URL('../../../labextension/package.json', import.meta.url)
);
const { createHeadlessEditor } = require('@lexical/headless');
const { DecoratorNode, ElementNode, TextNode } = require('lexical');
const { HeadingNode, QuoteNode } = require('@lexical/rich-text');
const { ListItemNode, ListNode } = require('@lexical/list');
const { AutoLinkNode, LinkNode } = require('@lexical/link');
const { CodeHighlightNode, CodeNode } = require('@lexical/code');
const { TableCellNode, TableNode, TableRowNode } = require('@lexical/table');
const { HorizontalRuleNode } = require('@lexical/extension');

/** A node of Datalayer's editor that keeps what it was given, as its own `exportJSON` would. */
class InputNode extends ElementNode {
  static getType() {
    return 'jupyter-input';
  }
  static clone(node) {
    const copy = new InputNode(node.__key);
    copy.__own = node.__own;
    return copy;
  }
  static importJSON({ language, jupyterInputNodeUuid, ...rest }) {
    const node = new InputNode();
    node.updateFromJSON(rest);
    node.__own = { language, jupyterInputNodeUuid };
    return node;
  }
  exportJSON() {
    return { ...super.exportJSON(), ...this.getLatest().__own };
  }
}

class InputTextNode extends TextNode {
  static getType() {
    return 'jupyter-input-highlight';
  }
  static clone(node) {
    const copy = new InputTextNode(node.__text, node.__key);
    copy.__highlightType = node.__highlightType;
    return copy;
  }
  static importJSON(json) {
    const node = new InputTextNode(json.text);
    node.updateFromJSON(json);
    node.__highlightType = json.highlightType;
    return node;
  }
  exportJSON() {
    const highlightType = this.getLatest().__highlightType;
    return { ...super.exportJSON(), highlightType };
  }
}

/** A decorator whose data are these keys, in this order. */
function decorator(type, keys, isInline) {
  return class extends DecoratorNode {
    static getType() {
      return type;
    }
    static clone(node) {
      const copy = new this(node.__key);
      copy.__own = node.__own;
      return copy;
    }
    static importJSON(json) {
      const node = new this();
      node.__own = json;
      return node;
    }
    isInline() {
      return isInline;
    }
    exportJSON() {
      const own = this.getLatest().__own;
      return Object.fromEntries(keys.map(key => [key, own[key]]));
    }
  };
}

const OutputNode = decorator(
  'jupyter-output',
  ['type', 'version', 'source', 'outputs', 'jupyterInputNodeUuid', 'jupyterOutputNodeUuid'],
  false
);
const ImageNode = decorator(
  'image',
  ['altText', 'caption', 'height', 'maxWidth', 'showCaption', 'src', 'type', 'version', 'width'],
  true
);
const EquationNode = decorator('equation', ['equation', 'inline', 'type', 'version'], true);

const editor = createHeadlessEditor({
  nodes: [
    AutoLinkNode, CodeHighlightNode, CodeNode, EquationNode, HeadingNode, HorizontalRuleNode,
    ImageNode, InputNode, InputTextNode, LinkNode, ListItemNode, ListNode, OutputNode, QuoteNode,
    TableCellNode, TableNode, TableRowNode
  ],
  onError: error => {
    throw error;
  }
});

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const state = editor.parseEditorState(line);
    answer = { ok: true, text: JSON.stringify(state.toJSON()) };
  } catch (error) {
    answer = { ok: false, error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
