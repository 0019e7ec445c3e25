import React from 'react';

import { useEditorChanges } from '../editorChanges';
import { clear, doing, draw, makePanel } from '../../__tests__/render';

afterEach(clear);

it('draws again at each change while the panel is seen, and once for all that it missed', async () => {
  const { model, editor } = await makePanel();
  let drawn = 0;
  function Watcher(): JSX.Element {
    useEditorChanges();
    drawn++;
    return <></>;
  }
  await draw(model, <Watcher />);
  const change = () => doing(() => editor.changed.emit());
  await change();
  expect(drawn).toBe(2);
  await doing(() => model.isSeen.set(false));
  await change();
  await change();
  expect(drawn).toBe(2);
  await doing(() => model.isSeen.set(true));
  expect(drawn).toBe(3);
  await doing(() => model.isSeen.set(false));
  await doing(() => model.isSeen.set(true));
  expect(drawn).toBe(3);
});
