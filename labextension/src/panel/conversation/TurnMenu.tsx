import { ellipsesIcon } from '@jupyterlab/ui-components';
import React from 'react';

import {
  canAskAgain,
  modelName,
  otherModels
} from '../answers/answersController';
import { IMenuItem, openMenu } from '../../ui/menu';
import { PanelModel } from '../model';
import { ITurn } from '../../session/turn';
import { useValue } from '../../session/observable';
import { IComposer, useComposer } from '../composer/composerContext';
import { IconButton } from '../../ui/IconButton';
import { usePanel } from '../context';

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

/** The models that could answer, too; where none could, it is there and disabled. */
function askAgain(model: PanelModel, turn: ITurn): IMenuItem {
  const reply = model.models.current;
  const others = otherModels(reply, turn, model.composerState.current.model);
  if (!others.length || !canAskAgain(model.shown.current.store, turn)) {
    return { label: 'Regenerate…', isDisabled: true, run: () => undefined };
  }
  const each: IMenuItem[] = others.map(id => ({
    label: modelName(reply, id),
    run: () => model.answers.ask(turn.id, [id])
  }));
  const several: IMenuItem[] = [
    'separator',
    {
      label: 'Several Models…',
      run: () => model.compare.regenerate(turn.id)
    }
  ];
  return {
    label: 'Regenerate…',
    items: others.length > 1 ? [...each, ...several] : each
  };
}

function itemsOf(
  model: PanelModel,
  composer: IComposer,
  turn: ITurn,
  isWithdrawn: boolean
): IMenuItem[] {
  const { history } = model;
  const { turnIds, runningTurnId } =
    model.shown.current.store.conversation.current;
  const isNewest = turnIds[turnIds.length - 1] === turn.id;
  const back = async () => {
    if (await history.goBack(turn.id, true)) {
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
    askAgain(model, turn),
    { label: 'Fork from Here', run: () => void history.fork(turn.id) },
    {
      label: 'Rewind to Here…',
      isDisabled: isWithdrawn || isNewest || !!runningTurnId,
      run: () => void history.goBack(turn.id)
    },
    {
      label: 'Rewind to Before This…',
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
      run: () => void history.export('md')
    },
    {
      label: 'Export as Notebook',
      run: () => void history.export('ipynb')
    },
    { label: 'Export as JSON', run: () => void history.export('json') },
    {
      label: 'Open Session as Notebook',
      run: () => void history.openAsNotebook()
    }
  ];
}
