import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import React, { memo, useLayoutEffect, useRef } from 'react';

import { BlockRenderer, IUses } from './rendering';
import { loadPicture } from './remotePictures';
import { LongText } from './LongText';
import {
  NO_BLOCKS,
  allBlocks,
  beginning,
  growBlocks,
  tailOf
} from './markdownBlocks';
import { forNotebook } from '../session/turnLinks';

interface IBlocksProps {
  text: string;
  isGrowing: boolean;
  rendermime: IRenderMimeRegistry;
  /** What can be done with code blocks and pictures; the same object while that is the same. */
  uses?: IUses;
  /** A link of ours was clicked, or chosen by Enter. */
  onLink: (link: HTMLElement) => void;
}

/**
 * Markdown by JupyterLab's renderer, in blocks, so that a growing text is not drawn anew. What comes
 * after the first `MOST_MARKDOWN` characters is plain text.
 */
export function Blocks(props: IBlocksProps): JSX.Element {
  const { isGrowing, rendermime, uses } = props;
  const text = beginning(props.text);
  const rest = props.text.slice(text.length);
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
      onClick={({ target }) => loadPicture(target) || open(target)}
      onKeyDown={({ key, target }) => key === 'Enter' && open(target)}
    >
      {blocks.map((source, index) => (
        <Block
          key={index}
          source={source}
          isGrowing={index === tail}
          rendermime={rendermime}
          uses={uses}
        />
      ))}
      {rest && <LongText text={rest} label="The rest, without formatting" />}
    </div>
  );
}

const Block = memo(
  (props: {
    source: string;
    isGrowing: boolean;
    rendermime: IRenderMimeRegistry;
    uses?: IUses;
  }): JSX.Element => {
    const { source, isGrowing, rendermime, uses } = props;
    const host = useRef<HTMLDivElement>(null);
    const renderer = useRef<BlockRenderer | null>(null);

    useLayoutEffect(() => {
      const made = new BlockRenderer(rendermime, host.current!, uses);
      renderer.current = made;
      return () => made.dispose();
    }, [rendermime, uses]);

    useLayoutEffect(() => {
      renderer.current?.draw(forNotebook(source), isGrowing);
    }, [rendermime, uses, source, isGrowing]);

    return <div className="da-block" ref={host} />;
  }
);
