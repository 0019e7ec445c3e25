import {
  ChatCommand,
  IChatCommandProvider
} from '@jupyter/chat/lib/registers/chat-commands';
import { IInputModel } from '@jupyter/chat/lib/input-model';

import { ExportFormat } from '../../../api/types';
import { ICommandHelp } from '../../toolsPanel/toolsPanel';
import { PanelModel } from '../../model';
import { progressOf } from '../../tutorials/lessons';
import { mark } from './toolCommands';

/** Something that is typed after a command. */
interface IArgument {
  name: string;
  description: string;
}

/** What the panel itself does; `about` is what was typed after the command, if it takes that. */
interface IPanelCommand {
  description: string;
  /** Left out: the server answers it. */
  run?: (about?: string) => void;
  completions?: () => Promise<IArgument[]>;
  /** Whether a word that was typed after it is one that it knows. */
  knows?: (about: string) => boolean;
  /** Whether any text may follow: a question. */
  takesText?: boolean;
}

const FORMATS: readonly IArgument[] = [
  { name: 'md', description: 'Markdown' },
  { name: 'ipynb', description: 'Notebook' },
  { name: 'json', description: 'JSON with all details' }
];

/** `/`: what the panel itself does. */
export class PanelCommands implements IChatCommandProvider {
  constructor(private readonly _model: PanelModel) {}

  readonly id = 'jupyter-datalayer-agent:commands';

  async listCommandCompletions(input: IInputModel): Promise<ChatCommand[]> {
    const word = input.currentWord ?? '';
    const typed = input.value.trimStart();
    // Only the first word of a message is a command; a path elsewhere is a path.
    if (word.startsWith('/') && typed === word) {
      return this._commandsFrom(word);
    }
    const [, name, about] = /^(\/\w+)\s+(\S*)$/.exec(typed) ?? [];
    const complete = this._commands.get(name)?.completions;
    if (!complete || about !== word) {
      return [];
    }
    return (await complete())
      .filter(each => each.name.startsWith(word.toLowerCase()))
      .map(each => ({ ...each, providerId: this.id, icon: mark('') }));
  }

  /** Whether a text is one of the commands, with nothing left to be completed. */
  has(text: string): boolean {
    const [name, about] = text.trim().split(/\s+/);
    if (this._commands.get(name)?.run === undefined) {
      return this._commands.has(name);
    }
    return (
      this._parse(text) !== null &&
      (!about ||
        !!this._commands.get(name)?.takesText ||
        !!this._commands.get(name)?.knows?.(about))
    );
  }

  /** Whether the panel itself does what the command says. */
  does(name: string): boolean {
    return this._commands.get(name)?.run !== undefined;
  }

  /** All of them; `takes`: whether something may be typed after it. */
  get list(): ICommandHelp[] {
    return [...this._commands].map(([name, command]) => ({
      name,
      description: command.description,
      takes: !!command.completions || !!command.takesText
    }));
  }

  async onSubmit(input: IInputModel): Promise<void> {
    const command = this._parse(input.value);
    if (command) {
      input.value = '';
      command();
    }
  }

  private _commandsFrom(word: string): ChatCommand[] {
    return [...this._commands]
      .filter(([name]) => name.startsWith(word))
      .map(([name, { description }]) => ({
        name,
        providerId: this.id,
        description,
        icon: mark('')
      }));
  }

  private _parse(text: string): (() => void) | null {
    const [, name, about] =
      /^(\/\w+)(?:\s+(\S[\s\S]*))?$/.exec(text.trim()) ?? [];
    const command = this._commands.get(name);
    const isWord = !!command?.completions && !/\s/.test(about ?? '');
    const run = command?.run;
    return run && (!about || isWord || command.takesText)
      ? () => run(about)
      : null;
  }

  private async _workflows(): Promise<IArgument[]> {
    const { workflows } = this._model.toolsPanel;
    if (!workflows.known.current.list) {
      await workflows.refresh();
    }
    const list = workflows.known.current.list ?? [];
    return list.map(({ id, name }) => ({ name: id, description: name }));
  }

  private async _tutorials(): Promise<IArgument[]> {
    const { tutorials } = this._model.toolsPanel;
    if (!tutorials.known.current.list) {
      await tutorials.refresh();
    }
    const list = tutorials.known.current.list ?? [];
    return list.map(tutorial => {
      const { done, total } = progressOf(tutorial);
      const description = `${tutorial.title} · ${done} of ${total} done`;
      return { name: tutorial.id, description };
    });
  }

  private readonly _commands = new Map<string, IPanelCommand>([
    [
      '/new',
      { description: 'New session', run: () => this._model.sessions.startNew() }
    ],
    [
      '/datasets',
      { description: 'Data sets', run: () => this._model.showDatasets() }
    ],
    ['/stop', { description: 'Stop the agent', run: () => this._model.stop() }],
    [
      '/clear',
      {
        description: 'Clear this session',
        run: () => void this._model.history.clear()
      }
    ],
    [
      '/compact',
      {
        description: 'Summarise older turns to send fewer tokens',
        run: () => void this._model.history.compact()
      }
    ],
    [
      '/fork',
      {
        description: 'Continue in a copy of this session',
        run: () => void this._model.history.fork()
      }
    ],
    [
      '/export',
      {
        description: 'Export this session to a file',
        run: format =>
          void this._model.history.export(
            FORMATS.some(({ name }) => name === format)
              ? (format as ExportFormat)
              : 'md'
          ),
        completions: async () => [...FORMATS],
        knows: format => FORMATS.some(({ name }) => name === format)
      }
    ],
    [
      '/strategist',
      {
        description: 'Ask about earlier sessions',
        run: question => {
          this._model.toolsPanel.showStrategist();
          this._model.strategist.askNext(question ?? '');
        },
        takesText: true
      }
    ],
    [
      '/compare',
      {
        description: 'Ask several models side by side',
        run: text => void this._model.compare.run(text ?? ''),
        takesText: true
      }
    ],
    [
      '/scratchpad',
      {
        description: 'Open the scratchpad notebook',
        run: () => void this._model.scratchpad.open()
      }
    ],
    [
      '/workflows',
      {
        description: 'Analyses that need no model',
        run: id =>
          id
            ? this._model.toolsPanel.showWorkflow(id)
            : this._model.toolsPanel.showWorkflows(),
        completions: () => this._workflows(),
        knows: id => !!this._model.toolsPanel.workflows.find(id)
      }
    ],
    [
      '/quality',
      {
        description: 'Check the quality of the active notebook',
        run: () => this._model.toolsPanel.showQuality()
      }
    ],
    [
      '/tutorial',
      {
        description: 'Tutorials with lessons that check your code',
        run: id =>
          id
            ? void this._model.toolsPanel.openTutorial(id)
            : this._model.toolsPanel.showTutorials(),
        completions: () => this._tutorials(),
        knows: id => !!this._model.toolsPanel.tutorials.find(id)
      }
    ],
    [
      '/connect',
      {
        description: 'Connect a model: a key, or a server of this computer',
        run: () => this._model.toolsPanel.showConnect()
      }
    ],
    [
      '/mcp',
      {
        description: 'MCP servers: tools of other programs',
        run: () => this._model.toolsPanel.showMcp()
      }
    ],
    [
      '/usage',
      {
        description: 'Tokens, cost and time for recent days',
        run: () => this._model.toolsPanel.showUsage()
      }
    ],
    [
      '/help',
      {
        description: 'What the agent can do, by service',
        takesText: true
      }
    ]
  ]);
}
