import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { ApiError } from './errors';
import { pageKeyHeader } from './pageKey';
import { Dataset, ErrorReply, UploadProgress, UploadReply } from './types';

/** How far an upload is: the file on its way, then what the server does with it. */
export interface IUploadStep {
  stage: 'sending' | UploadProgress['stage'];
  /** From 0 to 1, where that is known. */
  fraction?: number;
}

/** What `upload` is given. */
export interface IUploadOptions {
  file: File;
  /** The session in which the data set is registered; left out, it is for all. */
  sessionId?: string;
  /** The encoding of a text file, as the user chose it; left out, it is detected. */
  encoding?: string;
  /** Aborting takes back what was sent. */
  signal: AbortSignal;
  onStep: (step: IUploadStep) => void;
}

type Line = UploadProgress | UploadReply | ErrorReply;

/**
 * Send a file and wait until it is a data set. Rejects with an `ApiError`, and with a `DOMException`
 * named `AbortError` where it was aborted.
 *
 * By XMLHttpRequest: `fetch` does not report how much of a body is sent.
 */
export function upload(
  settings: ServerConnection.ISettings,
  url: string,
  options: IUploadOptions
): Promise<Dataset> {
  const { file, sessionId, encoding, signal, onStep } = options;
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    const settle = (end: () => void) => {
      signal.removeEventListener('abort', abort);
      end();
    };
    request.upload.onprogress = ({ loaded, total }) =>
      onStep({
        stage: 'sending',
        fraction: total ? loaded / total : undefined
      });
    request.upload.onload = () => onStep({ stage: 'checking' });
    request.onprogress = () => {
      const sent = lastWhole(request.responseText);
      if (sent && 'stage' in sent) {
        onStep({ stage: sent.stage, fraction: sent.fraction });
      }
    };
    request.onload = () =>
      settle(() => {
        const answer = outcome(request);
        if (answer instanceof ApiError) {
          reject(answer);
        } else {
          resolve(answer);
        }
      });
    request.onerror = () =>
      settle(() =>
        reject(
          new ApiError('unreachable', 'The connection to the server broke.')
        )
      );
    request.onabort = () =>
      settle(() => reject(new DOMException('Cancelled', 'AbortError')));
    signal.addEventListener('abort', abort);
    request.open('POST', url);
    request.withCredentials = settings.init.credentials === 'include';
    for (const [name, value] of Object.entries({
      ...headers(settings),
      ...pageKeyHeader(url)
    })) {
      request.setRequestHeader(name, value);
    }
    const form = new FormData();
    if (sessionId) {
      form.append('sessionId', sessionId);
    }
    if (encoding) {
      form.append('encoding', encoding);
    }
    form.append('file', file, file.name);
    if (signal.aborted) {
      settle(() => reject(new DOMException('Cancelled', 'AbortError')));
    } else {
      request.send(form);
    }
  });
}

/** The address of the route. */
export function uploadUrl(
  settings: ServerConnection.ISettings,
  basePath: string
): string {
  return URLExt.join(settings.baseUrl, basePath, 'upload');
}

/** Steps and the end come as lines, so that no proxy takes a long conversion for a dead one. */
function headers(settings: ServerConnection.ISettings): Record<string, string> {
  const xsrf = /(?:^|;\s*)_xsrf=([^;]*)/.exec(document.cookie)?.[1];
  return {
    Accept: 'application/x-ndjson, application/json',
    ...(settings.token && { Authorization: `token ${settings.token}` }),
    ...(xsrf && { 'X-XSRFToken': xsrf })
  };
}

function outcome({ responseText, status }: XMLHttpRequest): Dataset | ApiError {
  const last = parsed(responseText.trimEnd().split('\n').pop() ?? '');
  if (last && 'dataset' in last) {
    return last.dataset;
  }
  if (last && 'error' in last && last.error?.message) {
    return ApiError.from(last.error, status);
  }
  return new ApiError(
    'internal',
    status === 413
      ? 'The file exceeds the upload limit of the server or its proxy.'
      : `The upload ended without an answer (${status}).`,
    undefined,
    status
  );
}

/** The last line that is there as a whole. */
function lastWhole(text: string): Line | null {
  const end = text.lastIndexOf('\n');
  return end < 0
    ? null
    : parsed(text.slice(text.lastIndexOf('\n', end - 1) + 1, end));
}

function parsed(line: string): Line | null {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return null;
  }
}
