/** The promise's outcome, or, if it takes longer than `ms`, the error that `late` makes. */
export function within<T>(
  ms: number,
  promise: Promise<T>,
  late: () => Error
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(() => reject(late()), ms);
    promise.finally(() => window.clearTimeout(timer)).then(resolve, reject);
  });
}
