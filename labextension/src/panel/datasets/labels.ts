import { Dataset } from '../../api/types';

/** A size for a user: 1.5 GB. */
export function formatSize(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits))}\u00a0${units[unit]}`;
}

/** "1,200 rows · 5 columns". */
export function formatShape({ rows, columns }: Dataset): string {
  return `${counted(rows, 'row')} · ${counted(columns.length, 'column')}`;
}

/** Of a number of things, in words. */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
}

/** How the file was read: "CSV, comma, Windows-1252". */
export function formatSource({ report }: Dataset): string {
  const formats: Record<string, string> = {
    csv: 'CSV',
    tsv: 'TSV',
    parquet: 'Parquet',
    jsonl: 'JSON lines',
    json: 'JSON',
    excel: 'Excel'
  };
  const parts = [formats[report.format] ?? report.format];
  if (report.delimiter) {
    parts.push(`delimiter: ${report.delimiter}`);
  }
  if (report.encoding) {
    parts.push(report.encoding);
  }
  return parts.join(', ');
}
