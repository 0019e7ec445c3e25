import { ErrorBody, ErrorCode } from './types';

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
