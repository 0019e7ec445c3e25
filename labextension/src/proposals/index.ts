export * from './fences';
export * from './languages';
export * from './parse';
