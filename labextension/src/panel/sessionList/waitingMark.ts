import { Widget } from '@lumino/widgets';

import { IPanelConnection } from '../../api/services';

/** What the mark is made from. */
export type IWaits = Pick<IPanelConnection, 'waiting' | 'waitingChanged'>;

/** Mark the panel's icon in the sidebar while any session waits for the user: the panel may be closed. */
export function markWaiting(panel: Widget, connection: IWaits): void {
  const { title } = panel;
  const label = title.caption;
  const update = () => {
    const count = connection.waiting.length;
    title.className = count ? 'da-mod-waits' : '';
    title.caption =
      count > 1
        ? `${label}: ${count} sessions wait for you`
        : count
          ? `${label}: waits for you`
          : label;
  };
  connection.waitingChanged.connect(update);
  panel.disposed.connect(() => connection.waitingChanged.disconnect(update));
  update();
}
