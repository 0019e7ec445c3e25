import { closeIcon } from '@jupyterlab/ui-components';
import React, { useRef } from 'react';

import { IUpload } from './datasetController';
import { counted, formatShape, formatSize } from './labels';
import { useValue } from '../../session/observable';
import { DatasetReport } from './DatasetReport';
import { IconButton } from '../../ui/IconButton';
import { usePanel } from '../context';
import { useBroughtUp } from '../../ui/scrolling';

/** The files that are on their way to be data sets, and what became of them. */
export function Uploads(): JSX.Element | null {
  const { model } = usePanel();
  const uploads = useValue(model.datasets.uploads);
  const list = useRef<HTMLUListElement>(null);
  useBroughtUp(list, uploads[uploads.length - 1]?.id);
  if (!uploads.length) {
    return null;
  }
  return (
    <ul
      className="da-uploads"
      ref={list}
      aria-label="Uploads"
      data-testid="da-uploads"
    >
      {uploads.map(upload => (
        <Row
          key={upload.id}
          upload={upload}
          onClose={() => model.datasets.cancel(upload.id)}
          onChoose={encoding => void model.datasets.choose(upload.id, encoding)}
        />
      ))}
    </ul>
  );
}

function Row(props: {
  upload: IUpload;
  onClose: () => void;
  onChoose: (encoding: string) => void;
}): JSX.Element {
  const { upload, onClose, onChoose } = props;
  const { name, stage, fraction, dataset, problem, encodings } = upload;
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
          aria-label={`${name}: ${stageLabel(upload)}`}
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
      {!isOver && <div className="da-dim">{stageLabel(upload)}</div>}
      {problem && (
        <div className="da-upload-problem" role="alert">
          {problem}
        </div>
      )}
      {encodings?.map(({ encoding, label, preview }) => (
        <div key={encoding} className="da-upload-encoding">
          <button
            type="button"
            className="da-link"
            data-testid="da-upload-encoding"
            onClick={() => onChoose(encoding)}
          >
            {label}
          </button>
          {` ${preview}`}
        </div>
      ))}
      {dataset && (
        <div role="status">
          {`Data set ${dataset.name}: ${formatShape(dataset)}`}
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

function stageLabel({ stage, fraction, size }: IUpload): string {
  const share =
    fraction === undefined ? '' : ` ${Math.floor(fraction * 100)}\u00a0%`;
  switch (stage) {
    case 'queued':
      return 'Waiting for the previous upload';
    case 'sending':
      return `Sending${share} of ${formatSize(size)}`;
    case 'waiting':
      return 'Waiting for another conversion';
    case 'checking':
      return `Scanning${share}`;
    case 'converting':
      return `Reading the table${share}`;
    default:
      return '';
  }
}
