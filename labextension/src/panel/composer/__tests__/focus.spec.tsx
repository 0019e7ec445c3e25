import { ChatCommandRegistry } from '@jupyter/chat/lib/registers/chat-commands';
import { AttachmentOpenerRegistry } from '@jupyter/chat/lib/registers/attachment-openers';
import { IThemeManager } from '@jupyterlab/apputils';
import { ContentsManager } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import React from 'react';

import { clear, doing, draw, makePanel } from '../../__tests__/render';
import { canFocus, Composer, inputIn } from '../Composer';
import { setUpInput } from '../inputSetup';
import { InputToolbar } from '../registries';

afterEach(clear);

/** The input, and what JupyterLab emits when its theme changes. */
async function drawInput() {
  const { model } = await makePanel();
  const themes = {} as IThemeManager;
  const themeChanged = new Signal<IThemeManager, never>(themes);
  Object.assign(themes, { themeChanged });
  const setup = setUpInput(model, new ContentsManager(), {
    commands: new ChatCommandRegistry(),
    openers: new AttachmentOpenerRegistry(),
    toolbar: new InputToolbar()
  });
  const node = await draw(
    model,
    <Composer setup={setup} themeManager={themes} />
  );
  const change = () => doing(() => themeChanged.emit(undefined as never));
  return { node, change };
}

it('takes no focus by itself, and can be given it', async () => {
  const { node } = await drawInput();
  const field = inputIn(node)!;
  expect(document.activeElement).toBe(document.body);
  expect(canFocus(field)).toBe(true);
  await doing(() => field.focus());
  expect(document.activeElement).toBe(field);
});

it('is mounted once, when the theme is there', async () => {
  document.body.removeAttribute('data-jp-theme-light');
  const { node } = await drawInput();
  expect(inputIn(node)).toBeNull();
  document.body.setAttribute('data-jp-theme-light', 'true');
  await doing(() => new Promise(resolve => setTimeout(resolve, 150)));
  const field = inputIn(node);
  expect(field).not.toBeNull();
  await doing(() => new Promise(resolve => setTimeout(resolve, 1100)));
  expect(inputIn(node)).toBe(field);
});

it('is there without themes, too', async () => {
  document.body.removeAttribute('data-jp-theme-light');
  const { node } = await drawInput();
  await doing(() => new Promise(resolve => setTimeout(resolve, 1100)));
  expect(inputIn(node)).not.toBeNull();
  document.body.setAttribute('data-jp-theme-light', 'true');
});

it('keeps the focus under another theme, and lets Tab reach all of it at any time', async () => {
  const { node, change } = await drawInput();
  const seen: string[] = [];
  const observer = new MutationObserver(changes =>
    seen.push(...changes.map(({ attributeName }) => attributeName!))
  );
  observer.observe(node, { attributes: true, subtree: true });
  await doing(() => inputIn(node)!.focus());
  await change();
  expect(document.activeElement).toBe(inputIn(node));
  expect(canFocus(inputIn(node)!)).toBe(true);
  observer.disconnect();
  expect(seen).not.toContain('inert');
});
