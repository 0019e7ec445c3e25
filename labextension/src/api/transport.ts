import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { ApiError, errorOf } from './errors';
import { pageKeyHeader } from './pageKey';

/** The extension's base path, under the server's base URL. */
export const BASE_PATH = 'datalayer-agent';

/** Query parameters; those that are undefined are left out. */
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface IRequestOptions {
  signal?: AbortSignal;
  query?: Query;
  body?: object;
}

/** Sends requests to the extension's routes. Every method rejects with an `ApiError`. */
export class Transport {
  constructor(private readonly _settings: ServerConnection.ISettings) {}

  /** The JSON of a reply; undefined where it has none. */
  async send<T>(
    method: string,
    segments: string[],
    options: IRequestOptions = {}
  ): Promise<T> {
    const response = await this.fetch(method, segments, options);
    const text = await response.text();
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** A reply that is not an error. */
  async fetch(
    method: string,
    segments: string[],
    options: IRequestOptions
  ): Promise<Response> {
    const path = segments.map(encodeURIComponent).join('/');
    const url =
      URLExt.join(this._settings.baseUrl, BASE_PATH, path) +
      queryString(options.query ?? {});
    const init: RequestInit = {
      method,
      signal: options.signal,
      headers: pageKeyHeader(url)
    };
    if (options.body !== undefined) {
      init.body = JSON.stringify(options.body);
    }
    let response: Response;
    try {
      response = await ServerConnection.makeRequest(url, init, this._settings);
    } catch (error) {
      if (error instanceof ServerConnection.NetworkError) {
        throw new ApiError('unreachable', 'The server is not responding.');
      }
      throw error;
    }
    if (!response.ok) {
      throw errorOf(response, await response.text());
    }
    return response;
  }
}

/** `?a=1&b=2` of the parameters that have a value, or nothing. */
function queryString(query: Query): string {
  const entries = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => [key, String(value)]);
  return entries.length ? `?${new URLSearchParams(entries)}` : '';
}
