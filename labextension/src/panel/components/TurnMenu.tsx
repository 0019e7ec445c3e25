import { ellipsesIcon } from '@jupyterlab/ui-components';
import React from 'react';

import { IMenuItem, openMenu } from '../menu';
import { PanelModel } from '../model';
import { ITurn } from '../state/turn';
import { useValue } from '../state/value';
import { IComposer, useComposer } from './composerContext';
import { IconButton } from './IconButton';
import { usePanel } from './context';

/** What can be done from a turn on, in a menu. */
export function TurnMenu(props: { turn: ITurn }): JSX.Element {
  const { model } = usePanel();
  const composer = useComposer();
  const { turn } = props;
  const { store } = useValue(model.shown);
  const { withdrawn } = useValue(store.conversation);
  return (
    <IconButton
      icon={ellipsesIcon}
      label="More about this turn"
      className="da-foot-button da-turn-menu"
      data-testid="da-turn-menu"
      aria-haspopup="menu"
      onClick={event =>
        openMenu(
          event.currentTarget,
          itemsOf(model, composer, turn, withdrawn.has(turn.id))
        )
      }
    />
  );
}

function itemsOf(
  model: PanelModel,
  composer: IComposer,
  turn: ITurn,
  isWithdrawn: boolean
): IMenuItem[] {
  const { past } = model;
  const { turnIds, runningTurnId } =
    model.shown.current.store.conversation.current;
  const isNewest = turnIds[turnIds.length - 1] === turn.id;
  const back = async () => {
    if (await past.goBack(turn.id, true)) {
      composer.offer(turn.message);
    }
  };
  return [
    {
      label: 'Show Changes as a Diff',
      isDisabled: !turn.changes.length,
      run: () => model.changes.showDiff(turn.id)
    },
    'separator',
    { label: 'Fork from Here', run: () => void past.fork(turn.id) },
    {
      label: 'Go Back to Here…',
      isDisabled: isWithdrawn || isNewest || !!runningTurnId,
      run: () => void past.goBack(turn.id)
    },
    {
      label: 'Go Back to Before This…',
      isDisabled: isWithdrawn || !!runningTurnId,
      run: () => void back()
    },
    {
      label: 'Send Message to Scratchpad',
      isDisabled: !turn.message,
      run: () =>
        void model.scratchpad.send({
          content: turn.message,
          turnId: turn.id
        })
    },
    'separator',
    {
      label: 'Export as Markdown',
      run: () => void past.export('md')
    },
    {
      label: 'Export as Notebook',
      run: () => void past.export('ipynb')
    },
    { label: 'Export as JSON', run: () => void past.export('json') },
    {
      label: 'Open Session as Notebook',
      run: () => void past.openAsNotebook()
    }
  ];
}
