import React, { memo, useContext, useMemo } from 'react';

import { Provenance } from '../../api/types';
import { PanelModel } from '../model';
import { IUses } from '../../ui/rendering';
import { Blocks } from '../../ui/Blocks';
import { TurnContext, usePanel } from '../context';
import { goToAnswer } from '../answers/goToAnswer';

/** Markdown of an answer, or of anything else in the panel. */
export const Markdown = memo(
  (props: {
    text: string;
    isGrowing: boolean;
    /** Of an answer that is not the turn's own. */
    provenance?: Provenance;
  }): JSX.Element => {
    const { provenance } = props;
    const { rendermime, model, code } = usePanel();
    const turnId = useContext(TurnContext);
    const uses = useMemo<IUses>(
      () =>
        turnId
          ? {
              keep: kept =>
                void model.scratchpad.send({ ...kept, turnId, provenance }),
              act:
                code &&
                (block => {
                  const { store } = model.shown.current;
                  return code.add(block, store.turn(turnId).current.target);
                })
            }
          : {},
      [model, code, turnId, provenance]
    );
    return (
      <Blocks
        text={props.text}
        isGrowing={props.isGrowing}
        rendermime={rendermime}
        uses={uses}
        onLink={link => openLink(link, model)}
      />
    );
  }
);

function openLink(link: HTMLElement, model: PanelModel): void {
  const { dataset } = link;
  if (dataset.daPath) {
    void model.openLink(dataset.daPath);
  } else if (dataset.daTurn) {
    void model.sessions.goToTurn(dataset.daTurn);
  } else if (dataset.daAnswer) {
    goToAnswer(link, dataset.daAnswer);
  }
}
