// Prints each identifier of the TypeScript files whose paths come by stdin, as `path:line name`.
import { readFileSync } from 'node:fs';
import ts from 'typescript';

for (const file of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest
  );
  const visit = node => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      const { line } = ts.getLineAndCharacterOfPosition(
        source,
        node.getStart(source)
      );
      console.log(`${file}:${line + 1} ${node.text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
