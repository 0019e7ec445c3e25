import { IDocumentWidget } from '@jupyterlab/docregistry';
import { Contents } from '@jupyterlab/services';

import { PageRequestError } from '../api';
import { hashSource } from './edits/hash';
import { minimalSplice } from './edits/text';
import { writeInto } from './edits/write';
import { isNewer } from './reload';
import { Saver } from './save';

/** What is shared of a text file's model. */
type SharedText = Parameters<typeof writeInto>[0];

/**
 * Give an open text file another text: in place, as one step of its editor's undo, and saved, with
 * what the user had not saved. Throws `stale` where its text is not the one with `baseHash`.
 */
export async function writeText(
  { context }: IDocumentWidget,
  baseHash: string,
  content: string,
  saver: Pick<Saver, 'save'>,
  contents: Pick<Contents.IManager, 'get'>
): Promise<void> {
  const { model, path } = context;
  if (model.readOnly || context.contentsModel?.writable === false) {
    throw new PageRequestError('invalid', `${path} is read-only.`);
  }
  // Its save would ask the user which of the two to keep.
  if (model.dirty && (await isNewer(context, contents))) {
    throw new PageRequestError(
      'invalid',
      `${path} has unsaved changes, and was changed on the disk as well; nothing was changed. The user has to save or revert it first.`
    );
  }
  const before = model.toString();
  if (hashSource(before) !== baseHash) {
    throw new PageRequestError(
      'stale',
      `${path} changed in the meantime; nothing was changed.`
    );
  }
  const splice = minimalSplice(before, content);
  if (splice) {
    const { start, end, insert } = splice;
    writeInto(model.sharedModel as unknown as SharedText, [
      { from: start, to: end, insert }
    ]);
  }
  await saver.save(context);
}
