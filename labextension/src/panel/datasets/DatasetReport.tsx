import React from 'react';

import { Dataset } from '../../api/types';
import { counted, formatSource, formatSize } from './labels';

/** How many columns are listed; a table may have thousands. */
const MOST_COLUMNS = 100;

/** What was made of a file: how it was read, each column's type, and what was not read. */
export function DatasetReport(props: { dataset: Dataset }): JSX.Element {
  const { dataset } = props;
  const { columns, report, size, source } = dataset;
  return (
    <details className="da-report" data-testid="da-dataset-report">
      <summary>Import details</summary>
      <p>
        {`${source}: ${formatSource(dataset)}. Stored as Parquet, ${formatSize(size)}.`}
      </p>
      {report.notes.length > 0 && (
        <ul>
          {report.notes.map(note => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {report.rejectedRows > 0 && (
        <>
          <p>{`${counted(report.rejectedRows, 'row')} could not be read:`}</p>
          <ul>
            {report.rejected.map(({ line, reason }) => (
              <li
                key={line}
              >{`line ${line.toLocaleString('en-US')}: ${reason}`}</li>
            ))}
          </ul>
        </>
      )}
      <table className="da-columns">
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Type</th>
          </tr>
        </thead>
        <tbody>
          {columns.slice(0, MOST_COLUMNS).map(({ name, type }) => (
            <tr key={name}>
              <td>{name}</td>
              <td className="da-dim">{type}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {columns.length > MOST_COLUMNS && (
        <p className="da-dim">
          {`and ${counted(columns.length - MOST_COLUMNS, 'more column')}`}
        </p>
      )}
    </details>
  );
}
