import { Dataset } from '../../../api/types';

/** A data set of two columns. */
export function datasetOf(
  name: string,
  source = `${name}.csv`,
  report: Partial<Dataset['report']> = {}
): Dataset {
  return {
    name,
    path: `.datalayer/datasets/${name}.parquet`,
    rows: 1200,
    columns: [
      { name: 'id', type: 'int64' },
      { name: 'city', type: 'text' }
    ],
    size: 45_000,
    memory: 90_000,
    source,
    shared: false,
    createdAt: 1,
    report: {
      format: 'csv',
      encoding: 'UTF-8',
      delimiter: 'comma',
      header: true,
      rejectedRows: 0,
      rejected: [],
      notes: [],
      ...report
    }
  };
}
