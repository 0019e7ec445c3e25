import React, { memo, useCallback, useContext } from 'react';

import { PanelModel } from '../model';
import { Keep } from '../rendering';
import { Blocks } from './Blocks';
import { TurnContext, usePanel } from './context';

/** Markdown of an answer, or of anything else in the panel. */
export const Markdown = memo(
  (props: { text: string; isGrowing: boolean }): JSX.Element => {
    const { rendermime, model } = usePanel();
    const turnId = useContext(TurnContext);
    const keep = useCallback<Keep>(
      kept => {
        if (turnId) {
          void model.scratchpad.send({ ...kept, turnId });
        }
      },
      [model, turnId]
    );
    return (
      <Blocks
        text={props.text}
        isGrowing={props.isGrowing}
        rendermime={rendermime}
        keep={turnId ? keep : undefined}
        onLink={link => openLink(link, model)}
      />
    );
  }
);

function openLink({ dataset }: HTMLElement, model: PanelModel): void {
  if (dataset.daPath) {
    void model.openLink(dataset.daPath);
  } else if (dataset.daTurn) {
    void model.sessions.goToTurn(dataset.daTurn);
  }
}
