import { closeIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { IUpload } from '../datasetDesk';
import { counted, shapeWords, sizeWords } from '../state/datasets';
import { useValue } from '../state/value';
import { DatasetReport } from './DatasetReport';
import { IconButton } from './IconButton';
import { usePanel } from './context';

/** The files that are on their way to be data sets, and what became of them. */
export function Uploads(): JSX.Element | null {
  const { model } = usePanel();
  const uploads = useValue(model.datasets.uploads);
  if (!uploads.length) {
    return null;
  }
  return (
    <ul className="da-uploads" aria-label="Uploads" data-testid="da-uploads">
      {uploads.map(upload => (
        <Row
          key={upload.id}
          upload={upload}
          onClose={() => model.datasets.cancel(upload.id)}
        />
      ))}
    </ul>
  );
}

function Row(props: { upload: IUpload; onClose: () => void }): JSX.Element {
  const { upload, onClose } = props;
  const { name, stage, fraction, dataset, problem } = upload;
  const isOver = stage === 'done' || stage === 'failed';
  return (
    <li className="da-upload" data-testid="da-upload" data-stage={stage}>
      <div className="da-upload-head">
        <span className="da-upload-name" title={name}>
          {name}
        </span>
        {isOver ? (
          <IconButton
            icon={closeIcon}
            label={`Close: ${name}`}
            onClick={onClose}
          />
        ) : (
          <button
            type="button"
            className="da-link"
            data-testid="da-upload-cancel"
            aria-label={`Cancel the upload of ${name}`}
            onClick={onClose}
          >
            Cancel
          </button>
        )}
      </div>
      {!isOver && (
        <div
          className="da-progress"
          role="progressbar"
          aria-label={`${name}: ${stageWords(upload)}`}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={
            fraction === undefined ? undefined : Math.round(fraction * 100)
          }
          data-unknown={fraction === undefined}
        >
          <div
            className="da-progress-bar"
            style={{ width: `${(fraction ?? 0) * 100}%` }}
          />
        </div>
      )}
      {!isOver && <div className="da-dim">{stageWords(upload)}</div>}
      {problem && (
        <div className="da-upload-problem" role="alert">
          {problem}
        </div>
      )}
      {dataset && (
        <div role="status">
          {`Data set ${dataset.name}: ${shapeWords(dataset)}`}
          {dataset.report.rejectedRows > 0 && (
            <span className="da-upload-lost">
              {` · ${counted(dataset.report.rejectedRows, 'row')} could not be read`}
            </span>
          )}
          <DatasetReport dataset={dataset} />
        </div>
      )}
    </li>
  );
}

function stageWords({ stage, fraction, size }: IUpload): string {
  const share =
    fraction === undefined ? '' : ` ${Math.floor(fraction * 100)}\u00a0%`;
  switch (stage) {
    case 'queued':
      return 'Waits for the one before';
    case 'sending':
      return `Sending${share} of ${sizeWords(size)}`;
    case 'waiting':
      return 'Waits for another conversion';
    case 'checking':
      return `Looking through${share}`;
    case 'converting':
      return `Reading the table${share}`;
    default:
      return '';
  }
}
