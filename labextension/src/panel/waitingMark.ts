import { Widget } from '@lumino/widgets';

import { IPanelConnection } from './services';

/** What the mark is made from. */
export type IWaits = Pick<IPanelConnection, 'waiting' | 'waitingChanged'>;

/** Mark the panel's icon in the sidebar while any session waits for the person: the panel may be closed. */
export function markWaiting(panel: Widget, connection: IWaits): void {
  const { title } = panel;
  const words = title.caption;
  const update = () => {
    const count = connection.waiting.length;
    title.className = count ? 'da-mod-waits' : '';
    title.caption =
      count > 1
        ? `${words}: ${count} sessions wait for you`
        : count
          ? `${words}: waits for you`
          : words;
  };
  connection.waitingChanged.connect(update);
  panel.disposed.connect(() => connection.waitingChanged.disconnect(update));
  update();
}
