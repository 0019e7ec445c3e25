import React, { memo, useLayoutEffect, useRef } from 'react';

import { BlockRenderer } from '../rendering';
import { NO_BLOCKS, allBlocks, growBlocks, tailOf } from '../state/markdown';
import { usePanel } from './context';

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
        onClick={({ target }) => openLink(target, path => model.openLink(path))}
        onKeyDown={({ key, target }) =>
          key === 'Enter' && openLink(target, path => model.openLink(path))
        }
      >
        {blocks.map((source, index) => (
          <Block key={index} source={source} isGrowing={index === tail} />
        ))}
      </div>
    );
  }
);

/** Open the document of the link at a place, if there is one. */
function openLink(target: EventTarget, open: (path: string) => unknown): void {
  const link = (target as Element).closest<HTMLElement>('a[data-da-path]');
  if (link?.dataset.daPath) {
    open(link.dataset.daPath);
  }
}

const Block = memo(
  (props: { source: string; isGrowing: boolean }): JSX.Element => {
    const { rendermime } = usePanel();
    const host = useRef<HTMLDivElement>(null);
    const renderer = useRef<BlockRenderer | null>(null);

    useLayoutEffect(() => {
      const made = new BlockRenderer(rendermime, host.current!);
      renderer.current = made;
      return () => made.dispose();
    }, [rendermime]);

    useLayoutEffect(() => {
      renderer.current?.draw(props.source, props.isGrowing);
    }, [rendermime, props.source, props.isGrowing]);

    return <div className="da-block" ref={host} />;
  }
);
