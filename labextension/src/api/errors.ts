import { ErrorBody, ErrorCode, ErrorReply } from './types';

/**
 * The wire's codes, and `unreachable`: the server did not answer at all.
 */
export type ApiErrorCode = ErrorCode | 'unreachable';

/**
 * A refusal by the server, or its silence. `message` is fit to be shown to a user.
 */
export class ApiError extends Error {
  constructor(
    readonly code: ApiErrorCode,
    message: string,
    readonly detail?: unknown,
    readonly status?: number
  ) {
    super(message);
    this.name = 'ApiError';
  }

  /** The error that an `ErrorBody` of the wire represents. */
  static from(body: ErrorBody, status?: number): ApiError {
    return new ApiError(body.code, body.message, body.detail, status);
  }
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The error of a response that is not a success, whoever made the response. */
export function errorOf(response: Response, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as ErrorReply;
    if (error?.message) {
      return ApiError.from(error, response.status);
    }
  } catch {
    // Not ours: a proxy's page, or the server's own 404.
  }
  return new ApiError(
    codeOf(response.status),
    `The server answered ${response.status} ${response.statusText}.`.replace(
      ' .',
      '.'
    ),
    undefined,
    response.status
  );
}

function codeOf(status: number): ErrorCode {
  switch (status) {
    case 400:
      return 'invalid_request';
    case 401:
    case 403:
      return 'forbidden';
    case 404:
      return 'not_found';
    case 413:
      return 'too_large';
    default:
      return 'internal';
  }
}
