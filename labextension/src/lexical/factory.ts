import {
  ISessionContextDialogs,
  SessionContext,
  Toolbar,
  ToolbarButton
} from '@jupyterlab/apputils';
import { IEditorServices } from '@jupyterlab/codeeditor';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import {
  ABCWidgetFactory,
  DocumentRegistry,
  DocumentWidget
} from '@jupyterlab/docregistry';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ServiceManager } from '@jupyterlab/services';
import { codeIcon, runIcon } from '@jupyterlab/ui-components';
import { PromiseDelegate } from '@lumino/coreutils';
import { Panel } from '@lumino/widgets';

import type { AgentClient } from '../api/client';
import { DocumentKernel } from './kernel';
import type { LexicalView } from './view';

/** What documents need of JupyterLab and the server. */
export interface ILexicalParts {
  readonly services: ServiceManager.IManager;
  readonly client: Pick<AgentClient, 'callTool'>;
  readonly clientId: string;
  readonly rendermime: IRenderMimeRegistry;
  readonly editors: IEditorServices;
  readonly languages: IEditorLanguageRegistry | null;
  readonly dialogs: ISessionContextDialogs;
  readonly openPath: (path: string) => void;
  readonly openSource: (path: string) => void;
}

/** A Lexical document: a toolbar with its kernel, and its blocks, whose code is loaded with the first. */
export class LexicalDocument extends DocumentWidget<Panel> {
  constructor(
    options: DocumentWidget.IOptions<Panel>,
    private readonly _parts: ILexicalParts
  ) {
    super(options);
    this.addClass('da-lex-document');
    const { context } = this;
    this.sessionContext = new SessionContext({
      sessionManager: _parts.services.sessions,
      specsManager: _parts.services.kernelspecs,
      kernelManager: _parts.services.kernels,
      path: context.path,
      type: 'notebook',
      name: context.path.split('/').pop(),
      kernelPreference: { shouldStart: false, canStart: true }
    });
    this._kernel = new DocumentKernel(
      this.sessionContext,
      _parts.services.sessions,
      _parts.dialogs
    );
    context.pathChanged.connect((_, path) => {
      void this.sessionContext.session?.setPath(path);
    });
    this._addToolbar();
    void context.ready.then(() => this._load());
  }

  /** Its kernel, if one runs. */
  readonly sessionContext: SessionContext;

  /** Its blocks, once they are shown. */
  get loaded(): Promise<LexicalView> {
    return this._loaded.promise;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.sessionContext.dispose();
      super.dispose();
    }
  }

  private async _load(): Promise<void> {
    const { LexicalView } = await import('./view');
    if (this.isDisposed) {
      return;
    }
    const { context, _parts } = this;
    const rendermime = _parts.rendermime.clone({
      resolver: context.urlResolver
    });
    this._view = new LexicalView({
      context,
      rendermime,
      rendering: {
        latex: rendermime.latexTypesetter,
        resolver: context.urlResolver,
        languages: _parts.languages,
        openLink: path =>
          void context.urlResolver.resolveUrl(path).then(_parts.openPath)
      },
      editors: _parts.editors,
      scroller: this.content.node,
      call: (tool, args) =>
        _parts.client.callTool(tool, {
          arguments: args,
          path: context.localPath,
          clientId: _parts.clientId
        }),
      onRun: () => this._kernel.follow()
    });
    this.content.addWidget(this._view);
    this._view.rendered.connect(this._onRendered, this);
    this._loaded.resolve(this._view);
    await this._kernel.follow();
  }

  /** Other outputs: the agent has run code, in a kernel that this page did not start. */
  private _onRendered({ shown }: LexicalView): void {
    const outputs = shown.reduce(
      (size, { block }) => size + block.outputsKey.length,
      0
    );
    if (outputs !== this._outputs) {
      this._outputs = outputs;
      void this._kernel.follow();
    }
  }

  private _addToolbar(): void {
    const { toolbar, context, _parts } = this;
    toolbar.addItem(
      'run-all',
      new ToolbarButton({
        icon: runIcon,
        label: 'Run All',
        tooltip: 'Run all code of the document',
        onClick: () => void this._view?.runAll()
      })
    );
    toolbar.addItem(
      'interrupt',
      Toolbar.createInterruptButton(this.sessionContext)
    );
    toolbar.addItem(
      'source',
      new ToolbarButton({
        icon: codeIcon,
        label: 'Source',
        tooltip: 'Open the text of the file in an editor',
        onClick: () => _parts.openSource(context.path)
      })
    );
    toolbar.addItem('spacer', Toolbar.createSpacerItem());
    toolbar.addItem(
      'kernel',
      Toolbar.createKernelNameItem(this.sessionContext, this._kernel.dialogs)
    );
    toolbar.addItem(
      'status',
      Toolbar.createKernelStatusItem(this.sessionContext)
    );
  }

  private readonly _kernel: DocumentKernel;
  private _view: LexicalView | null = null;
  /** How many characters of outputs were shown last. */
  private _outputs = 0;
  private readonly _loaded = new PromiseDelegate<LexicalView>();
}

/** Makes the widgets of Lexical documents. */
export class LexicalFactory extends ABCWidgetFactory<
  LexicalDocument,
  DocumentRegistry.ICodeModel
> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<LexicalDocument>,
    private readonly _parts: ILexicalParts
  ) {
    super(options);
  }

  protected createNewWidget(
    context: DocumentRegistry.Context
  ): LexicalDocument {
    const content = new Panel();
    content.addClass('da-lex-panel');
    return new LexicalDocument({ content, context }, this._parts);
  }
}
