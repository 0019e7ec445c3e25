import { CodeEditor } from '@jupyterlab/codeeditor';

import { BlockValue, IBlockEditor } from './blockEditor';

/** The source of a block in JupyterLab's own editor: Markdown, or the code of a code block. */
export class SourceEditor implements IBlockEditor {
  constructor(
    private readonly _text: string,
    mimeType: string,
    factory: (options: CodeEditor.IOptions) => CodeEditor.IEditor
  ) {
    this.node.className = 'da-lex-editor';
    this._model = new CodeEditor.Model({ mimeType });
    this._model.sharedModel.setSource(_text);
    this._editor = factory({ host: this.node, model: this._model });
  }

  readonly node = document.createElement('div');

  get isChanged(): boolean {
    return this.value.content !== this._text;
  }

  get value(): BlockValue & { content: string } {
    return { content: this._model.sharedModel.getSource() };
  }

  focus(): void {
    this._editor.focus();
  }

  dispose(): void {
    this._editor.dispose();
    this._model.dispose();
  }

  private readonly _model: CodeEditor.Model;
  private readonly _editor: CodeEditor.IEditor;
}
