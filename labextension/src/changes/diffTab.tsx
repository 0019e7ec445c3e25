import { MainAreaWidget, ReactWidget } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import React from 'react';

import { agentIcon } from '../ui/icons';
import { useValue } from '../session/observable';
import { DiffModel } from './diffModel';
import { Sides } from '../diff/sides';
import { countKinds, ICellDiff, IDocumentDiff } from './turnDiff';
import { DiffKind } from '../diff/pair';

/** Of more cells, the diffs are folded at first. */
const MOST_OPEN = 50;

const KIND_LABELS: Record<DiffKind, string> = {
  added: 'Added',
  removed: 'Removed',
  changed: 'Changed',
  moved: 'Moved',
  ran: 'Ran'
};

/** A tab with all that a turn changed. */
export function makeDiffTab(model: DiffModel): MainAreaWidget<DiffContent> {
  const content = new DiffContent(model);
  const tab = new MainAreaWidget({ content });
  tab.toolbar.hide();
  tab.id = tabId(model.turnId);
  tab.title.icon = agentIcon;
  tab.title.label = 'Agent Changes';
  tab.title.closable = true;
  model.shown.subscribe(() => {
    const { message, documents } = model.shown.current;
    tab.title.label = titleOf(documents ?? []);
    tab.title.caption = message;
  });
  return tab;
}

/** What changed, by the name of the document: tabs are narrow. */
function titleOf([first, ...others]: readonly IDocumentDiff[]): string {
  if (!first) {
    return 'Agent Changes';
  }
  const more = others.length ? ` and ${others.length} more` : '';
  return `${PathExt.basename(first.path)}${more} (changes)`;
}

/** The id of the tab with a turn's diff. */
export function tabId(turnId: string): string {
  return `datalayer-agent-diff-${turnId}`;
}

/** What is in the tab. */
export class DiffContent extends ReactWidget {
  constructor(readonly model: DiffModel) {
    super();
    this.addClass('da-diff-tab');
    this.node.dataset.testid = 'da-diff-tab';
    this.node.tabIndex = -1;
  }

  dispose(): void {
    this.model.dispose();
    super.dispose();
  }

  protected onActivateRequest(): void {
    this.node.focus();
  }

  protected render(): JSX.Element {
    return <TurnDiffView model={this.model} />;
  }
}

function TurnDiffView({ model }: { model: DiffModel }): JSX.Element {
  const { documents, problem, message, canDecide } = useValue(model.shown);
  const { turnId } = model;
  const changed = documents?.filter(
    ({ cells, isNew, text }) => cells.length || isNew || text
  );
  const count = documents?.reduce((sum, { cells }) => sum + cells.length, 0);
  return (
    <article>
      <header className="da-diff-head">
        <h1>Changes by the agent</h1>
        {message && <p className="da-diff-dim">{message}</p>}
        {problem && <p role="alert">{problem}</p>}
        <div className="da-diff-line-of">
          <span role="status">
            {!documents
              ? !problem && 'Loading changes'
              : changed?.length
                ? countKinds(documents)
                : 'Nothing was changed.'}
          </span>
          {canDecide && (
            <>
              <button
                type="button"
                className="da-nb-button"
                onClick={() => model.decider?.keep(turnId)}
              >
                Keep
              </button>
              <button
                type="button"
                className="da-nb-button"
                onClick={() => model.decider?.undo(turnId)}
              >
                Undo
              </button>
            </>
          )}
        </div>
      </header>
      {changed?.map(each => (
        <DocumentView
          key={each.path}
          model={model}
          document={each}
          isFolded={(count ?? 0) > MOST_OPEN}
        />
      ))}
    </article>
  );
}

function DocumentView(props: {
  model: DiffModel;
  document: IDocumentDiff;
  isFolded: boolean;
}): JSX.Element {
  const { path, cells, isNew, text, state, mimeType } = props.document;
  const { colour } = props.model;
  return (
    <section aria-label={path}>
      <h2>
        {path}
        {isNew && <span className="da-diff-dim"> · new</span>}
        {state && state !== 'open' && (
          <span className="da-diff-dim"> · {state}</span>
        )}
      </h2>
      {text && (
        <Sides pair={text} name={path} colour={colour} mimeType={mimeType} />
      )}
      {cells.map(cell => (
        <CellView
          key={cell.cellId}
          model={props.model}
          path={path}
          cell={cell}
          mimeType={typeOfCell(cell, mimeType)}
          isFolded={props.isFolded}
        />
      ))}
    </section>
  );
}

function CellView(props: {
  model: DiffModel;
  path: string;
  cell: ICellDiff;
  mimeType?: string;
  isFolded: boolean;
}): JSX.Element {
  const { cell, path, model, mimeType } = props;
  const { kind, number, isThen, source, outputs, metadata, state, cellId } =
    cell;
  const name = `${KIND_LABELS[kind]} ${number ? `cell ${number}` : 'a cell'}`;
  const sides = source && (
    <Sides
      pair={source}
      kind={kind}
      name={name}
      colour={model.colour}
      mimeType={mimeType}
    />
  );
  return (
    <section className="da-diff-cell" data-kind={kind} aria-label={name}>
      <h3>
        <button
          type="button"
          className="da-nb-button"
          title="Go to the cell"
          disabled={kind === 'removed' && state !== 'undone'}
          onClick={() => void model.source.editor.reveal(path, cellId)}
        >
          {name}
        </button>
        {!source && cell.firstLine && <code>{cell.firstLine}</code>}
        {cell.cellType && cell.cellType !== 'code' && (
          <span className="da-diff-dim">{cell.cellType}</span>
        )}
        {isThen && <span className="da-diff-dim">numbered as it was then</span>}
        {state !== 'open' && <span className="da-diff-dim">{state}</span>}
      </h3>
      {props.isFolded && sides ? (
        <Folded label="Source">{sides}</Folded>
      ) : (
        sides
      )}
      {outputs && (
        <Folded label="Outputs, before and now">
          <Sides pair={outputs} name={`Outputs: ${name}`} isNow />
        </Folded>
      )}
      {metadata && (
        <Folded label="Metadata, before and now">
          <Sides pair={metadata} name={`Metadata: ${name}`} isNow />
        </Folded>
      )}
    </section>
  );
}

/** What is drawn only when it is opened. */
function Folded(props: {
  label: string;
  children: React.ReactNode;
}): JSX.Element {
  const [isOpen, setOpen] = React.useState(false);
  return (
    <details onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>{props.label}</summary>
      {isOpen && props.children}
    </details>
  );
}

/** A Markdown cell is Markdown in a notebook of any language; a raw one is anything. */
function typeOfCell(
  { cellType }: ICellDiff,
  code: string | undefined
): string | undefined {
  return cellType === 'markdown'
    ? 'text/x-ipythongfm'
    : cellType === 'raw'
      ? undefined
      : code;
}
