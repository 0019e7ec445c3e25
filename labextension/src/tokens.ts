import type { IInputToolbarRegistry } from '@jupyter/chat/lib/components/input/toolbar-registry';
import type { IAttachmentOpenerRegistry } from '@jupyter/chat/lib/registers/attachment-openers';
import type { IChatCommandRegistry } from '@jupyter/chat/lib/registers/chat-commands';
import type { IWidgetTracker } from '@jupyterlab/apputils';
import { Token } from '@lumino/coreutils';

import type { AgentClient } from './api/client';
import type { IPageConnection } from './api/pageConnection';
import type { IChangesSource } from './changes/source';
import type { LexicalDocument } from './lexical/factory';
import type { Documents } from './notebook/documents';
import type { ShownDocuments } from './notebook/shownDocuments';

/** The server's HTTP routes. */
export const IAgentClient = new Token<AgentClient>(
  'jupyter-datalayer-agent:IAgentClient',
  "The agent's HTTP routes."
);

/** The page's one connection to the server, shared by the panel and the bridge. */
export const IAgentConnection = new Token<IPageConnection>(
  'jupyter-datalayer-agent:IAgentConnection',
  "The page's connection to the agent: session events, editor state, the server's requests."
);

/** What the agent changed, as the panel knows it, and the one place to decide on it. */
export const IAgentChanges = new Token<IChangesSource>(
  'jupyter-datalayer-agent:IAgentChanges',
  'What turns of the agent changed and nobody has decided on, and how to decide.'
);

/** The documents that are open in the page. */
export const IDocuments = new Token<Documents>(
  'jupyter-datalayer-agent:IDocuments',
  'The documents that are open in the page, by their paths under the server root.'
);

/** The documents in which the user has all that the agent made shown. */
export const IShownDocuments = new Token<ShownDocuments>(
  'jupyter-datalayer-agent:IShownDocuments',
  'The documents in which what the agent made is not held back.'
);

/** The Lexical documents that are open in the page. */
export const ILexicalTracker = new Token<ILexicalTracker>(
  'jupyter-datalayer-agent:ILexicalTracker',
  'The widgets of Lexical documents.'
);
export type ILexicalTracker = IWidgetTracker<LexicalDocument>;

/** Commands and completions of the panel's input. */
export const IAgentChatCommands = new Token<IChatCommandRegistry>(
  'jupyter-datalayer-agent:IAgentChatCommands',
  "Commands and completions of the Agent panel's input."
);

/** What a click on an attached file (`file`) or notebook (`notebook`) does. */
export const IAgentAttachmentOpeners = new Token<IAttachmentOpenerRegistry>(
  'jupyter-datalayer-agent:IAgentAttachmentOpeners',
  'What opens the attachments of the Agent panel, by type.'
);

/** The items under the panel's input; the panel's own can be hidden, and not replaced. */
export const IAgentInputToolbar = new Token<IInputToolbarRegistry>(
  'jupyter-datalayer-agent:IAgentInputToolbar',
  "The toolbar of the Agent panel's input."
);
