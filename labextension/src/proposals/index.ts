export * from './fences';
export * from './parse';
