import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import React, { memo, useLayoutEffect, useRef } from 'react';

import { BlockRenderer, Keep } from '../rendering';
import { NO_BLOCKS, allBlocks, growBlocks, tailOf } from '../state/markdown';
import { forNotebook } from '../state/turnLinks';

interface IBlocksProps {
  text: string;
  isGrowing: boolean;
  rendermime: IRenderMimeRegistry;
  /** What is done with a code block or picture that the person keeps; without it none can be. */
  keep?: Keep;
  /** A link of ours was clicked, or chosen by Enter. */
  onLink: (link: HTMLElement) => void;
}

/** Markdown by JupyterLab's renderer, in blocks, so that a growing text is not drawn anew. */
export function Blocks(props: IBlocksProps): JSX.Element {
  const { text, isGrowing, rendermime, keep } = props;
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
  const open = (target: EventTarget) => {
    const link = (target as Element).closest<HTMLElement>('a');
    if (link) {
      props.onLink(link);
    }
  };
  return (
    <div
      className="da-markdown"
      onClick={({ target }) => open(target)}
      onKeyDown={({ key, target }) => key === 'Enter' && open(target)}
    >
      {blocks.map((source, index) => (
        <Block
          key={index}
          source={source}
          isGrowing={index === tail}
          rendermime={rendermime}
          keep={keep}
        />
      ))}
    </div>
  );
}

const Block = memo(
  (props: {
    source: string;
    isGrowing: boolean;
    rendermime: IRenderMimeRegistry;
    keep?: Keep;
  }): JSX.Element => {
    const { source, isGrowing, rendermime, keep } = props;
    const host = useRef<HTMLDivElement>(null);
    const renderer = useRef<BlockRenderer | null>(null);

    useLayoutEffect(() => {
      const made = new BlockRenderer(rendermime, host.current!, keep);
      renderer.current = made;
      return () => made.dispose();
    }, [rendermime, keep]);

    useLayoutEffect(() => {
      renderer.current?.draw(forNotebook(source), isGrowing);
    }, [rendermime, keep, source, isGrowing]);

    return <div className="da-block" ref={host} />;
  }
);
