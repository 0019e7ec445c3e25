import React, { useState } from 'react';

import { Dataset } from '../../api/types';
import { chooseLocalFiles } from '../composer/attachments/localFiles';
import { formatShape, formatSize } from './labels';
import { useValue } from '../../session/observable';
import { CardFrame } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';
import { DatasetReport } from './DatasetReport';
import { usePanel } from '../context';

/** The data sets that there are: attach one, see what was read, delete it. */
export function DatasetsCard(): JSX.Element {
  const { datasets } = usePanel().model;
  const { list, limit, problem } = useValue(datasets.known);
  const upload = async () => datasets.upload(await chooseLocalFiles());
  return (
    <CardFrame title="Data sets" testId="da-datasets" takesFocus>
      {problem && (
        <Problem message={problem} onRetry={() => void datasets.refresh()} />
      )}
      {!problem && !list && <p>Loading</p>}
      {list?.length === 0 && (
        <p>
          No data set yet. Upload CSV, TSV, Parquet, JSON lines or Excel
          {limit ? `, up to ${formatSize(limit)}` : ''}, or drop a file on this
          panel.
        </p>
      )}
      {!!list?.length && (
        <ul className="da-datasets">
          {list.map(dataset => (
            <Row key={dataset.name} dataset={dataset} />
          ))}
        </ul>
      )}
      <div className="da-buttons">
        <button
          type="button"
          className="da-button"
          onClick={() => void upload()}
        >
          Upload…
        </button>
      </div>
    </CardFrame>
  );
}

function Row(props: { dataset: Dataset }): JSX.Element {
  const { dataset } = props;
  const { model } = usePanel();
  const [isAsking, setAsking] = useState(false);
  useValue(model.composerState);
  const { name, size } = dataset;
  const isAttached = model.composerState.hasDataset(name);
  return (
    <li className="da-dataset" data-testid="da-dataset" data-name={name}>
      <div className="da-upload-head">
        <strong className="da-upload-name" title={dataset.path}>
          {name}
        </strong>
        {isAsking ? (
          <>
            <span>Delete the file?</span>
            <button
              type="button"
              className="da-link"
              autoFocus
              onClick={() => void model.datasets.remove(dataset)}
            >
              Delete
            </button>
            <button
              type="button"
              className="da-link"
              onClick={() => setAsking(false)}
            >
              Keep
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              className="da-link"
              disabled={isAttached}
              aria-label={`Attach ${name}`}
              onClick={() => void model.datasets.attach(dataset)}
            >
              {isAttached ? 'attached' : 'Attach'}
            </button>
            <button
              type="button"
              className="da-link"
              aria-label={`Delete ${name}`}
              onClick={() => setAsking(true)}
            >
              Delete
            </button>
          </>
        )}
      </div>
      <div className="da-dim">{`${formatShape(dataset)} · ${formatSize(size)}`}</div>
      <DatasetReport dataset={dataset} />
    </li>
  );
}
