import { createEmptyHistoryState, registerHistory } from '@lexical/history';
import { AutoLinkNode, LinkNode } from '@lexical/link';
import { ListItemNode, ListNode, registerList } from '@lexical/list';
import { HeadingNode, QuoteNode, registerRichText } from '@lexical/rich-text';
import { createEditor, LexicalEditor } from 'lexical';

import { INode } from '../document';
import { KeptNode, keptRenderers } from './kept';

/** An editor of Lexical for one block of text. */
export function makeLexicalEditor(
  renderKept: (node: INode) => Node,
  onError: (error: Error) => void
): LexicalEditor {
  const editor = createEditor({
    namespace: 'datalayer-agent',
    nodes: [
      AutoLinkNode,
      HeadingNode,
      KeptNode,
      LinkNode,
      ListItemNode,
      ListNode,
      QuoteNode
    ],
    theme: {
      list: {
        listitemChecked: 'da-lex-checked',
        listitemUnchecked: 'da-lex-unchecked',
        nested: { listitem: 'da-lex-nested' }
      },
      text: {
        strikethrough: 'da-lex-strike',
        underline: 'da-lex-underline',
        underlineStrikethrough: 'da-lex-underline-strike'
      }
    },
    onError
  });
  keptRenderers.set(editor, renderKept);
  return editor;
}

/** Typing, deleting, pasting, lists and undo; the return value ends them. */
export function registerBehaviour(editor: LexicalEditor): () => void {
  const ends = [
    registerRichText(editor),
    registerList(editor),
    registerHistory(editor, createEmptyHistoryState(), 300)
  ];
  return () => ends.forEach(end => end());
}
