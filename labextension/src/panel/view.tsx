import { IThemeManager, ReactWidget } from '@jupyterlab/apputils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { Contents } from '@jupyterlab/services';
import { Message } from '@lumino/messaging';
import React from 'react';

import { setUpInput } from './composer/inputSetup';
import type { IInputRegistries } from './composer/registries';
import {
  CodeController,
  ICodeControllerOptions
} from './codeActions/codeController';
import { canFocus, inputIn } from './composer/Composer';
import { Panel } from './Panel';
import { Draft } from './composer/draft';
import { DropTarget } from './composer/attachments/drop';
import { isData } from './composer/attachments/localFiles';
import { OutputDrag } from './composer/attachments/outputDrag';
import { PanelModel } from './model';
import { PanelSanitizer } from '../ui/sanitizer';

/** What the panel's content is made of. */
export interface IPanelViewOptions {
  model: PanelModel;
  rendermime: IRenderMimeRegistry;
  contents: Contents.IManager;
  themeManager: IThemeManager | null;
  /** What other extensions add to the input. */
  registries: IInputRegistries;
  openSettings: () => void;
  /** Where the code of answers can go. */
  code: Omit<ICodeControllerOptions, 'reportError' | 'sessionId' | 'decided'>;
}

/** The panel's content. It and all that it needs are loaded when the panel is first shown. */
export class PanelView extends ReactWidget {
  constructor(private readonly _options: IPanelViewOptions) {
    super();
    this.addClass('da-view');
    const { model, contents, registries, rendermime } = _options;
    this._setup = setUpInput(model, contents, registries);
    this._code = new CodeController({
      ..._options.code,
      reportError: error => model.reportError(error),
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
      attachments => model.composerState.attach(...attachments),
      files => uploadDropped(model, files)
    );
  }

  /** Put the cursor into the input, as soon as it is there. */
  focusInput(): void {
    this._wantsFocus = true;
    const field = inputIn(this.node);
    if (field && canFocus(field)) {
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
    this._outputs?.dispose();
    super.dispose();
  }

  protected onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._listenToDrags();
    this._options.model.isSeen.set(this.isVisible);
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._listenToDrags();
    this._options.model.isSeen.set(true);
  }

  protected onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._outputs?.dispose();
    this._outputs = null;
    this._options.model.isSeen.set(false);
  }

  protected onBeforeDetach(message: Message): void {
    this._wantsFocus = false;
    this._outputs?.dispose();
    this._outputs = null;
    super.onBeforeDetach(message);
  }

  /** Outputs can be dragged while they can be dropped here. */
  private _listenToDrags(): void {
    if (this.isVisible) {
      const { editor } = this._options.model;
      this._outputs ??= new OutputDrag(node => editor.cellAt(node));
    }
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

  private readonly _code: CodeController;
  private readonly _setup: ReturnType<typeof setUpInput>;
  private readonly _rendermime: IRenderMimeRegistry;
  private readonly _draft: Draft;
  private readonly _drop: DropTarget;
  private _outputs: OutputDrag | null = null;
  private _wantsFocus = false;
}

/** Tables of the user's computer are made data sets of; other files have another way. */
function uploadDropped(model: PanelModel, files: File[]): void {
  const others = files.filter(({ name }) => !isData(name));
  if (others.length) {
    const names = others.map(({ name }) => name);
    model.notice.set({ level: 'info', message: uploadFirst(names) });
  }
  void model.datasets.upload(files.filter(({ name }) => isData(name)));
}

/** What to do with files of the user's computer that are no tables. */
function uploadFirst(names: string[]): string {
  const [what, them] =
    names.length === 1 ? [names[0], 'it'] : ['these files', 'them'];
  return (
    `Not attached: only tables become data sets. Upload ${what} to the file browser ` +
    `first (drop ${them} there), then attach ${them} from there or with @.`
  );
}
