import { PathExt } from '@jupyterlab/coreutils';
import { InputToolbarRegistry } from '@jupyter/chat/lib/components/input/toolbar-registry';
import { LabIcon, caretRightIcon } from '@jupyterlab/ui-components';
import React, { useState } from 'react';

import { useComposer } from '../composerContext';
import { useValue } from '../../../session/observable';
import { attachIcon } from '../../../ui/icons';
import { chooseLocalFiles } from './localFiles';
import { ReferenceList, SubList, ToolList } from './AttachList';
import { Popup } from '../../Popup';
import { useEditorChanges } from '../editorChanges';
import { usePanel } from '../../context';

/** What the paperclip shows in a list of its own. */
type List = 'cells' | 'outputs' | 'variables' | 'tools' | 'commands';

const LISTS: readonly [List, string][] = [
  ['cells', 'Cells'],
  ['outputs', 'Outputs'],
  ['variables', 'Variables'],
  ['tools', 'Tools'],
  ['commands', 'Commands']
];

/** What can be attached or referred to: the same as with `@`, `#` and `/` in the input. */
export function AttachMenu(
  props: InputToolbarRegistry.IToolbarItemProps
): JSX.Element {
  return (
    <Popup
      icon={attachIcon as LabIcon}
      className="da-attach"
      label="Attach"
      role="menu"
      placement="above"
      buttonTestId="da-attach"
    >
      {close => <AttachItems close={close} toolbar={props} />}
    </Popup>
  );
}

function AttachItems(props: {
  close: () => void;
  toolbar: InputToolbarRegistry.IToolbarItemProps;
}): JSX.Element {
  const { close, toolbar } = props;
  const { model } = usePanel();
  const [list, setList] = useState<List | null>(null);
  const { editor } = model;
  useValue(model.composerState);
  useEditorChanges();
  const active = editor.activeNotebook;
  const others = editor.openNotebooks.filter(path => path !== active);
  const paths = active ? [active, ...others] : others;
  const document = editor.activeDocument;
  if (document && document !== active) {
    paths.unshift(document);
  }
  const attach = (path: string) => {
    const kind = isNotebook(path) ? 'notebook' : 'file';
    model.composerState.attach({ kind, path });
    props.close();
  };
  const choose = async () => {
    props.close();
    const chosen = await editor.chooseFiles();
    model.composerState.attach(
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
  if (list) {
    return (
      <SubList
        key={list}
        title={LISTS.find(([each]) => each === list)![1]}
        onBack={() => setList(null)}
      >
        <Listed list={list} close={close} toolbar={toolbar} />
      </SubList>
    );
  }
  return (
    <>
      {paths.map(path => (
        <button
          key={path}
          type="button"
          role="menuitem"
          className="da-menu-item"
          title={path}
          disabled={model.composerState.hasNotebook(path)}
          onClick={() => attach(path)}
        >
          <span className="da-session-title">{PathExt.basename(path)}</span>
          <span className="da-dim">
            {model.composerState.hasNotebook(path)
              ? 'attached'
              : path === document
                ? 'active'
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
      {LISTS.filter(([each]) => active || !NEED_NOTEBOOK.includes(each)).map(
        ([each, title]) => (
          <button
            key={each}
            type="button"
            role="menuitem"
            className="da-menu-item"
            aria-haspopup="menu"
            data-testid={`da-attach-${each}`}
            onClick={() => setList(each)}
            onKeyDown={event => event.key === 'ArrowRight' && setList(each)}
          >
            <span>{title}</span>
            <caretRightIcon.react tag="span" className="da-chip-icon" />
          </button>
        )
      )}
    </>
  );
}

const NEED_NOTEBOOK: readonly List[] = ['cells', 'outputs', 'variables'];

function Listed(props: {
  list: List;
  close: () => void;
  toolbar: InputToolbarRegistry.IToolbarItemProps;
}): JSX.Element {
  const { references } = usePanel().model;
  const { list, close, toolbar } = props;
  switch (list) {
    case 'cells':
      return (
        <ReferenceList
          load={() => references.cells()}
          none="The active notebook has no cells"
          close={close}
        />
      );
    case 'outputs':
      return (
        <ReferenceList
          load={() => references.outputs()}
          none="The active notebook has no outputs"
          close={close}
        />
      );
    case 'variables':
      return (
        <ReferenceList
          load={() => references.variables(true)}
          none="The kernel has no variables yet"
          close={close}
        />
      );
    case 'tools':
      return <ToolList close={close} />;
    case 'commands':
      return <CommandList close={close} toolbar={toolbar} />;
  }
}

/** What the panel itself does: a command is written into the empty input, to be sent. */
function CommandList(props: {
  close: () => void;
  toolbar: InputToolbarRegistry.IToolbarItemProps;
}): JSX.Element {
  const { model: input } = props.toolbar;
  const { commands } = useComposer();
  const choose = (name: string, takes: boolean) => {
    props.close();
    input.value = takes ? `${name} ` : name;
    input.cursorIndex = input.value.length;
    input.focus();
  };
  return (
    <>
      {commands.map(({ name, description, takes }) => (
        <button
          key={name}
          type="button"
          role="menuitem"
          className="da-menu-item da-mod-two-lines"
          // What is being written is not thrown away.
          disabled={!!input.value.trim()}
          onClick={() => choose(name, takes)}
        >
          <span className="da-menu-name">{name}</span>
          <span className="da-dim da-menu-about">{description}</span>
        </button>
      ))}
    </>
  );
}

/** Whether a path is that of a notebook. */
export function isNotebook(path: string): boolean {
  return PathExt.extname(path).toLowerCase() === '.ipynb';
}
