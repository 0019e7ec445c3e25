import React from 'react';

import type { Colour } from './colours';
import { ILine, sideBySide } from './rows';
import { DiffKind, IPair } from './pair';

/** Two texts by lines: beside each other, or the one that there is. */
export function Sides(props: {
  pair: IPair;
  name: string;
  kind?: DiffKind;
  /** What is after it is as it is now, which others may have changed too. */
  isNow?: boolean;
  colour?: Colour | null;
  mimeType?: string;
}): JSX.Element {
  const { before, after } = props.pair;
  const coloursBefore = useColours(before, props);
  const coloursAfter = useColours(after, props);
  const rows = React.useMemo(() => sideBySide(before, after), [before, after]);
  const hasBefore = props.kind !== 'added';
  const hasAfter = props.kind !== 'removed';
  return (
    <table className="da-sides" aria-label={props.name}>
      <thead>
        <tr>
          {hasBefore && <th scope="col">Before</th>}
          {hasAfter && <th scope="col">{props.isNow ? 'Now' : 'After'}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {hasBefore && (
              <Side
                line={row.before}
                sign={row.isSame ? '' : '-'}
                colours={coloursBefore}
              />
            )}
            {hasAfter && (
              <Side
                line={row.after}
                sign={row.isSame ? '' : '+'}
                colours={coloursAfter}
              />
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Side(props: {
  line: ILine | null;
  sign: string;
  colours: Coloured | null;
}): JSX.Element {
  const { line, sign, colours } = props;
  const kind = sign === '-' ? 'removed' : sign === '+' ? 'added' : 'same';
  if (line === null) {
    return <td className="da-mod-none">{sign ? '' : '⋯'}</td>;
  }
  const pieces = colours?.[line.number];
  return (
    <td className={`da-mod-${kind}`}>
      <span className="da-sign">{sign}</span>
      {pieces
        ? pieces.map(({ text, className }, index) => (
            <span key={index} className={className}>
              {text}
            </span>
          ))
        : line.text}
    </td>
  );
}

type Coloured = Awaited<ReturnType<Colour>>;

/** A text in its colours; null until they are known, and where it has none. */
function useColours(
  text: string,
  { colour, mimeType }: { colour?: Colour | null; mimeType?: string }
): Coloured | null {
  const [coloured, setColoured] = React.useState<{
    text: string;
    lines: Coloured;
  } | null>(null);
  React.useEffect(() => {
    let isWanted = true;
    if (colour && mimeType && text) {
      colour(text, mimeType).then(
        lines => isWanted && setColoured({ text, lines }),
        error => console.warn('datalayer-agent:', error)
      );
    }
    return () => {
      isWanted = false;
    };
  }, [text, colour, mimeType]);
  return coloured?.text === text ? coloured.lines : null;
}
