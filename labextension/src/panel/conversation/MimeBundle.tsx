import { IRenderMimeRegistry, MimeModel } from '@jupyterlab/rendermime';
import { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';
import React, { memo, useLayoutEffect, useRef } from 'react';

import { onlyShows } from '../../notebook/agentMark';
import { loadPicture } from '../../ui/remotePictures';
import { usePanel } from '../context';
import { Markdown } from './Markdown';

type Bundle = Readonly<Record<string, unknown>>;

const MARKDOWN = 'text/markdown';

/**
 * What a tool returned to be shown, drawn by the renderer that JupyterLab has for it: Markdown as
 * that of an answer, which is drawn in bounds.
 */
export const MimeBundle = memo((props: { bundle: Bundle }): JSX.Element => {
  const { bundle } = props;
  const { rendermime } = usePanel();
  const host = useRef<HTMLDivElement>(null);
  const type = shownType(rendermime, bundle);

  useLayoutEffect(() => {
    if (type === undefined || type === MARKDOWN) {
      return;
    }
    const data = bundle as ReadonlyPartialJSONObject;
    const renderer = rendermime.createRenderer(type);
    renderer
      .renderModel(new MimeModel({ data, trusted: false }))
      .catch(error => {
        console.error(`datalayer-agent: ${type} could not be drawn`, error);
        renderer.node.textContent = `${type} could not be drawn.`;
      });
    Widget.attach(renderer, host.current!);
    return () => renderer.dispose();
  }, [rendermime, bundle, type]);

  return (
    <div
      className="da-mime-bundle"
      data-testid="da-mime-bundle"
      ref={host}
      onClick={({ target }) => void loadPicture(target)}
    >
      {type === MARKDOWN && (
        <Markdown text={[bundle[MARKDOWN]].flat().join('')} isGrowing={false} />
      )}
    </div>
  );
});

/** The panel's sanitizer takes out of these what runs or loads something. */
const SANITIZED = ['text/html', MARKDOWN];

/**
 * The richest type that can be drawn, whatever the data is: a model may have written it. JupyterLab
 * calls renderers safe that load what the data names, as charts do. So beside the types that are
 * known to only show something, a renderer itself says so, by `onlyShows` of its factory.
 */
export function shownType(
  rendermime: IRenderMimeRegistry,
  bundle: Bundle
): string | undefined {
  const shown = Object.entries(bundle).filter(([type, value]) => {
    const factory = rendermime.getFactory(type) as
      | { safe: boolean; onlyShows?: unknown }
      | undefined;
    const vouches = factory?.safe === true && factory.onlyShows === true;
    return vouches || SANITIZED.includes(type) || onlyShows(type, value);
  });
  const data = Object.fromEntries(shown) as ReadonlyPartialJSONObject;
  return rendermime.preferredMimeType(data, 'ensure');
}
