import React, { memo, useMemo } from 'react';

/** Lines in one piece: pieces out of sight are not laid out. */
const PIECE = 200;

/** Text of any length that scrolls as smoothly as a short one. */
export const LongText = memo(
  (props: {
    text: string;
    label: string;
    title?: string;
    /** Ids of the cells that the text names. */
    cellIds?: string;
  }): JSX.Element => {
    const { text, label, title, cellIds } = props;
    const pieces = useMemo(() => {
      const lines = text.split('\n');
      const made: { text: string; lines: number }[] = [];
      for (let i = 0; i < lines.length; i += PIECE) {
        const some = lines.slice(i, i + PIECE);
        made.push({ text: some.join('\n'), lines: some.length });
      }
      return made;
    }, [text]);
    return (
      <pre
        className="da-long-text"
        tabIndex={0}
        aria-label={label}
        title={title}
        data-cell-ids={cellIds}
      >
        {pieces.map((piece, index) => (
          <div
            key={index}
            className="da-piece"
            style={{ containIntrinsicHeight: `${piece.lines * 1.4}em` }}
          >
            {piece.text}
          </div>
        ))}
      </pre>
    );
  }
);
