import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import React from 'react';

import { Blocks } from '../ui/Blocks';
import { IUses } from '../ui/rendering';

/** The text of an answer, drawn as the panel draws them. */
export function Answer(props: {
  text: string;
  isGrowing: boolean;
  rendermime: IRenderMimeRegistry;
  openPath: (path: string) => void;
  uses: IUses;
}): JSX.Element {
  return (
    <Blocks
      text={props.text}
      isGrowing={props.isGrowing}
      rendermime={props.rendermime}
      uses={props.uses}
      onLink={({ dataset: { daPath } }) => {
        if (daPath) {
          props.openPath(daPath);
        }
      }}
    />
  );
}
