export * from './client';
export * from './connection';
export * from './errors';
export * from './pageConnection';
export { PageRequestError, type RequestHandler } from './requests';
export { type EventHandler } from './subscriptions';
export * from './types';
