import { syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import {
  IEditorLanguageRegistry,
  jupyterHighlightStyle
} from '@jupyterlab/codemirror';

/** A part of a line with the classes of its colour. */
export interface IColouredPart {
  text: string;
  className: string;
}

/** The lines of a source in the colours that it has in an editor. */
export type Colour = (
  source: string,
  mimeType: string
) => Promise<readonly (readonly IColouredPart[])[]>;

/** Colours as JupyterLab's editors have them. */
export function colourBy(languages: IEditorLanguageRegistry): Colour {
  // The style's rules come into the page with an editor, and there may be none yet.
  new EditorView({
    extensions: syntaxHighlighting(jupyterHighlightStyle)
  }).destroy();
  return async (source, mimeType) => {
    const coloured = document.createElement('div');
    const language = languages.findBest(mimeType);
    await languages.highlight(source, language, coloured);
    return linesOf(coloured);
  };
}

/** Coloured text by lines; a piece may go over several. */
export function linesOf(coloured: HTMLElement): IColouredPart[][] {
  const lines: IColouredPart[][] = [[]];
  for (const node of coloured.childNodes) {
    const className = node instanceof Element ? node.className : '';
    (node.textContent ?? '').split('\n').forEach((text, index) => {
      if (index) {
        lines.push([]);
      }
      if (text) {
        lines[lines.length - 1].push({ text, className });
      }
    });
  }
  return lines;
}
