import React, { memo, useContext, useLayoutEffect, useRef } from 'react';

import { PanelModel } from '../model';
import { BlockRenderer } from '../rendering';
import { NO_BLOCKS, allBlocks, growBlocks, tailOf } from '../state/markdown';
import { forNotebook } from '../state/turnLinks';
import { TurnContext, usePanel } from './context';

/** Markdown by JupyterLab's renderer, in blocks, so that a growing text is not drawn anew. */
export const Markdown = memo(
  (props: { text: string; isGrowing: boolean }): JSX.Element => {
    const { text, isGrowing } = props;
    const { model } = usePanel();
    const grown = useRef(NO_BLOCKS);
    let blocks: readonly string[];
    let tail = -1;
    if (isGrowing) {
      grown.current = growBlocks(grown.current, text);
      tail = grown.current.done.length;
      blocks = [...grown.current.done, tailOf(grown.current)];
    } else {
      blocks = allBlocks(text);
    }
    return (
      <div
        className="da-markdown"
        onClick={({ target }) => openLink(target, model)}
        onKeyDown={({ key, target }) =>
          key === 'Enter' && openLink(target, model)
        }
      >
        {blocks.map((source, index) => (
          <Block key={index} source={source} isGrowing={index === tail} />
        ))}
      </div>
    );
  }
);

/** Open the document, or the turn, of the link at a place, if there is one. */
function openLink(target: EventTarget, model: PanelModel): void {
  const link = (target as Element).closest<HTMLElement>('a');
  if (link?.dataset.daPath) {
    void model.openLink(link.dataset.daPath);
  } else if (link?.dataset.daTurn) {
    void model.sessions.goToTurn(link.dataset.daTurn);
  }
}

const Block = memo(
  (props: { source: string; isGrowing: boolean }): JSX.Element => {
    const { rendermime, model } = usePanel();
    const turnId = useContext(TurnContext);
    const host = useRef<HTMLDivElement>(null);
    const renderer = useRef<BlockRenderer | null>(null);

    useLayoutEffect(() => {
      const made = new BlockRenderer(
        rendermime,
        host.current!,
        turnId
          ? kept => void model.scratchpad.send({ ...kept, turnId })
          : undefined
      );
      renderer.current = made;
      return () => made.dispose();
    }, [rendermime, model, turnId]);

    useLayoutEffect(() => {
      renderer.current?.draw(forNotebook(props.source), props.isGrowing);
    }, [rendermime, model, turnId, props.source, props.isGrowing]);

    return <div className="da-block" ref={host} />;
  }
);
