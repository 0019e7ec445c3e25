import { Notification } from '@jupyterlab/apputils';

/** Tells the person in passing what was done, with one thing to do about it. */
export type Inform = (
  message: string,
  action?: { label: string; run: () => void }
) => void;

/** How long it is shown, in ms. */
const SHOWN_MS = 5000;

/** Tell it in a notification of JupyterLab's. */
export const informByNotification: Inform = (message, action) => {
  Notification.success(message, {
    autoClose: SHOWN_MS,
    actions: action && [{ label: action.label, callback: action.run }]
  });
};
