import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import React, { memo, useLayoutEffect, useRef } from 'react';

import { BlockRenderer } from '../panel/rendering';
import {
  allBlocks,
  growBlocks,
  NO_BLOCKS,
  tailOf
} from '../panel/state/markdown';

interface IAnswerProps {
  text: string;
  isGrowing: boolean;
  rendermime: IRenderMimeRegistry;
  openPath: (path: string) => void;
}

/** The words of an answer, by the panel's renderer: in blocks, each drawn once. */
export function Answer(props: IAnswerProps): JSX.Element {
  const { text, isGrowing, rendermime } = props;
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
    if (link?.dataset.daPath) {
      props.openPath(link.dataset.daPath);
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
  }): JSX.Element => {
    const { source, isGrowing, rendermime } = props;
    const host = useRef<HTMLDivElement>(null);
    const renderer = useRef<BlockRenderer | null>(null);
    useLayoutEffect(() => {
      const made = new BlockRenderer(rendermime, host.current!);
      renderer.current = made;
      return () => made.dispose();
    }, [rendermime]);
    useLayoutEffect(() => {
      renderer.current?.draw(source, isGrowing);
    }, [rendermime, source, isGrowing]);
    return <div className="da-block" ref={host} />;
  }
);
