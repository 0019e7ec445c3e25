import { ReactWidget } from '@jupyterlab/apputils';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import React, { useState } from 'react';

import { Elapsed } from '../../ui/Elapsed';
import { StrategistModel } from '../strategist/StrategistModel';
import { PanelContext } from '../context';
import { PanelModel } from '../model';
import { useValue } from '../../session/observable';

/** What its padding and border take of its height, in pixels. */
const FRAME = 9;

/** What the bar works with. */
export interface IBarOptions {
  model: PanelModel;
  rendermime: IRenderMimeRegistry;
  /** The notebook's path, as it is now. */
  path: () => string;
  openSettings: () => void;
}

/** The Strategist's box above a scratchpad: a question, whose answer becomes a cell below. */
export class StrategistBar extends ReactWidget {
  constructor(private readonly _options: IBarOptions) {
    super();
    this.addClass('da-strategist-bar');
    this.node.dataset.testid = 'da-strategist-bar';
    void _options.model.refreshModels();
  }

  dispose(): void {
    this._observer.disconnect();
    super.dispose();
  }

  protected render(): JSX.Element {
    const { model, rendermime, path, openSettings } = this._options;
    return (
      <PanelContext.Provider value={{ model, rendermime, openSettings }}>
        <div ref={this._onContent}>
          <Box model={model} path={path} />
        </div>
      </PanelContext.Provider>
    );
  }

  /** The layout around it gives it the height that it says it needs at least. */
  private readonly _onContent = (content: HTMLElement | null): void => {
    this._observer.disconnect();
    if (content) {
      this._observer.observe(content);
    }
  };

  private readonly _observer = new ResizeObserver(([{ target }]) => {
    const height = `${Math.ceil(target.getBoundingClientRect().height) + FRAME}px`;
    if (this.node.style.minHeight !== height && !this.isDisposed) {
      this.node.style.minHeight = height;
      if (this.parent) {
        MessageLoop.postMessage(this.parent, Widget.Msg.FitRequest);
      }
    }
  });
}

function Box(props: { model: PanelModel; path: () => string }): JSX.Element {
  const { model, path } = props;
  const asked = useValue(model.strategist.asked);
  const [question, setQuestion] = useState('');
  const [problem, setProblem] = useState('');
  const isBusy = !!asked?.isAsking;

  const ask = async () => {
    setProblem('');
    const wanted = question;
    const done = await model.strategist.ask(wanted, path());
    if (!done) {
      return;
    }
    setQuestion(now => (now === wanted ? '' : now));
    const cell = done.answer?.scratchpad;
    setProblem(done.problem ?? cell?.problem ?? '');
    if (cell?.cellId) {
      await model.editor.follow(cell.path, cell.cellId);
    }
  };

  return (
    <form
      className="da-strategist-row"
      onSubmit={event => {
        event.preventDefault();
        void ask();
      }}
    >
      <input
        className="da-field"
        aria-label="Question to the Strategist"
        placeholder="Ask about earlier sessions"
        value={question}
        disabled={isBusy}
        onChange={event => setQuestion(event.target.value)}
      />
      <StrategistModel />
      <button
        type="submit"
        className="da-button"
        disabled={isBusy || !question.trim()}
      >
        Ask
      </button>
      <div className="da-strategist-state" role="status">
        {isBusy && asked && (
          <>
            <span className="da-working-dot" aria-hidden="true" />
            <span>
              Searching earlier sessions
              <Elapsed since={asked.since} />
            </span>
          </>
        )}
        {problem && <span className="da-strategist-problem">{problem}</span>}
      </div>
    </form>
  );
}
