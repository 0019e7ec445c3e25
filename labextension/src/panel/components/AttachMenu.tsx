import { PathExt } from '@jupyterlab/coreutils';
import { LabIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { useValue } from '../state/value';
import { attachIcon } from '../icons';
import { chooseLocalFiles } from '../localFiles';
import { Popup } from './Popup';
import { useEditorChanges } from './ContextStrip';
import { usePanel } from './context';

/** What can be attached: the open notebooks, files, and data of the person's computer. */
export function AttachMenu(): JSX.Element {
  return (
    <Popup
      icon={attachIcon as LabIcon}
      label="Attach"
      role="menu"
      placement="above"
      buttonTestId="da-attach"
    >
      {close => <AttachItems close={close} />}
    </Popup>
  );
}

function AttachItems(props: { close: () => void }): JSX.Element {
  const { model } = usePanel();
  const { editor } = model;
  useValue(model.choices);
  useEditorChanges();
  const active = editor.activeNotebook;
  const others = editor.openNotebooks.filter(path => path !== active);
  const paths = active ? [active, ...others] : others;
  const attach = (path: string) => {
    model.choices.attach({ kind: 'notebook', path });
    props.close();
  };
  const choose = async () => {
    props.close();
    const chosen = await editor.chooseFiles();
    model.choices.attach(
      ...chosen.map(path => ({
        kind: isNotebook(path) ? ('notebook' as const) : ('file' as const),
        path
      }))
    );
  };
  const upload = async () => {
    props.close();
    await model.datasets.upload(await chooseLocalFiles());
  };
  return (
    <>
      {paths.map(path => (
        <button
          key={path}
          type="button"
          role="menuitem"
          className="da-menu-item"
          title={path}
          disabled={model.choices.hasNotebook(path)}
          onClick={() => attach(path)}
        >
          <span className="da-session-title">{PathExt.basename(path)}</span>
          <span className="da-dim">
            {model.choices.hasNotebook(path)
              ? 'attached'
              : path === active
                ? 'in front'
                : 'open'}
          </span>
        </button>
      ))}
      <button
        type="button"
        role="menuitem"
        className="da-menu-item"
        onClick={() => void choose()}
      >
        Choose files…
      </button>
      <button
        type="button"
        role="menuitem"
        className="da-menu-item"
        data-testid="da-upload-data"
        onClick={() => void upload()}
      >
        Upload data…
      </button>
      <button
        type="button"
        role="menuitem"
        className="da-menu-item"
        data-testid="da-show-datasets"
        onClick={() => {
          props.close();
          model.showDatasets();
        }}
      >
        Data sets…
      </button>
    </>
  );
}

/** Whether a path is that of a notebook. */
export function isNotebook(path: string): boolean {
  return PathExt.extname(path).toLowerCase() === '.ipynb';
}
