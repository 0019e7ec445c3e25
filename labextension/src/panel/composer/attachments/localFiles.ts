/** What the server makes a data set of; shown first in the dialog, which shows all on request. */
const ACCEPTED =
  '.csv,.tsv,.tab,.txt,.parquet,.pq,.jsonl,.ndjson,.json,.xlsx,.xlsm';

/** Whether a file is one of those, by its name. */
export function isData(name: string): boolean {
  const suffix = /\.[^.]*$/.exec(name.toLowerCase())?.[0];
  return !!suffix && ACCEPTED.split(',').includes(suffix);
}

/** Ask for files of the user's computer; nothing when the dialog is closed without any. */
export function chooseLocalFiles(): Promise<File[]> {
  return new Promise(resolve => {
    const input = document.createElement('input');
    input.type = 'file';
    input.multiple = true;
    input.accept = ACCEPTED;
    input.hidden = true;
    input.dataset.testid = 'da-upload-input';
    const end = () => {
      resolve([...(input.files ?? [])]);
      input.remove();
    };
    input.addEventListener('change', end);
    input.addEventListener('cancel', end);
    document.body.append(input);
    input.click();
  });
}
