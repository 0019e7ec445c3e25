import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import React from 'react';

import { Blocks } from '../panel/components/Blocks';

/** The words of an answer, drawn as the panel draws them. */
export function Answer(props: {
  text: string;
  isGrowing: boolean;
  rendermime: IRenderMimeRegistry;
  openPath: (path: string) => void;
}): JSX.Element {
  return (
    <Blocks
      text={props.text}
      isGrowing={props.isGrowing}
      rendermime={props.rendermime}
      onLink={({ dataset: { daPath } }) => {
        if (daPath) {
          props.openPath(daPath);
        }
      }}
    />
  );
}
