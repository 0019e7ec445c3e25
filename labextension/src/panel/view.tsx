import { IThemeManager, ReactWidget } from '@jupyterlab/apputils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Contents } from '@jupyterlab/services';
import { Message } from '@lumino/messaging';
import React from 'react';

import { setUpInput } from './chat/inputSetup';
import { CodeDesk, ICodeDeskOptions } from './codeActions/desk';
import { inputIn } from './components/Composer';
import { Panel } from './components/Panel';
import { Draft } from './draft';
import { DropTarget } from './drop';
import { isData } from './localFiles';
import { OutputDrag } from './outputDrag';
import { PanelModel } from './model';
import { PanelSanitizer } from './sanitizer';

/** What the panel's content is made of. */
export interface IPanelViewOptions {
  model: PanelModel;
  rendermime: IRenderMimeRegistry;
  contents: Contents.IManager;
  themeManager: IThemeManager | null;
  openSettings: () => void;
  /** Where the code of answers can go. */
  documents: Omit<ICodeDeskOptions, 'tell' | 'sessionId' | 'decided'>;
}

/** The panel's content. It and all that it needs are loaded when the panel is first shown. */
export class PanelView extends ReactWidget {
  constructor(private readonly _options: IPanelViewOptions) {
    super();
    this.addClass('da-view');
    const { model, contents, rendermime } = _options;
    this._setup = setUpInput(model, contents);
    this._code = new CodeDesk({
      ..._options.documents,
      tell: error => model.tell(error),
      sessionId: () => model.shown.current.sessionId,
      decided: model.messages.decided
    });
    this._draft = new Draft(this._setup.chatModel.input, model.shown);
    this._rendermime = rendermime.clone({
      sanitizer: new PanelSanitizer(rendermime.sanitizer)
    });
    this._drop = new DropTarget(
      this.node,
      contents,
      attachments => model.choices.attach(...attachments),
      files => takeUp(model, files)
    );
    this._outputs = new OutputDrag(node => model.editor.cellAt(node));
  }

  /** Put the cursor into the input, as soon as it is there. */
  focusInput(): void {
    this._wantsFocus = true;
    const field = inputIn(this.node);
    if (field && !field.closest('[inert]')) {
      this._wantsFocus = false;
      field.focus();
    } else if (!this.isDisposed) {
      requestAnimationFrame(() => this._wantsFocus && this.focusInput());
    }
  }

  dispose(): void {
    this._wantsFocus = false;
    this._code.dispose();
    this._draft.dispose();
    this._drop.dispose();
    this._outputs.dispose();
    super.dispose();
  }

  protected onBeforeDetach(message: Message): void {
    this._wantsFocus = false;
    super.onBeforeDetach(message);
  }

  protected render(): JSX.Element {
    return (
      <Panel
        model={this._options.model}
        rendermime={this._rendermime}
        openSettings={this._options.openSettings}
        setup={this._setup}
        code={this._code}
        themeManager={this._options.themeManager}
      />
    );
  }

  private readonly _code: CodeDesk;
  private readonly _setup: ReturnType<typeof setUpInput>;
  private readonly _rendermime: IRenderMimeRegistry;
  private readonly _draft: Draft;
  private readonly _drop: DropTarget;
  private readonly _outputs: OutputDrag;
  private _wantsFocus = false;
}

/** Tables of the person's computer are made data sets of; other files have another way. */
function takeUp(model: PanelModel, files: File[]): void {
  const others = files.filter(({ name }) => !isData(name));
  if (others.length) {
    const names = others.map(({ name }) => name);
    model.notice.set({ level: 'info', message: uploadFirst(names) });
  }
  void model.datasets.upload(files.filter(({ name }) => isData(name)));
}

/** What to do with files of the person's computer that are no tables. */
function uploadFirst(names: string[]): string {
  const [what, them] =
    names.length === 1 ? [names[0], 'it'] : ['these files', 'them'];
  return (
    `Not attached: only tables become data sets. Upload ${what} to the file browser ` +
    `first (drop ${them} there), then attach ${them} from there or with @.`
  );
}
