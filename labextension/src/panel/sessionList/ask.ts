import { Dialog, showDialog } from '@jupyterlab/apputils';
import { Widget } from '@lumino/widgets';

/** A question to the user, with what they may choose beside "Cancel". */
export interface IAsked {
  title: string;
  /** Paragraphs. */
  body: readonly string[];
  /** The last one is what is suggested. */
  choices: readonly { id: string; label: string; isDanger?: boolean }[];
}

/** Asks the user; the id of what they chose, or null. */
export type Ask = (question: IAsked) => Promise<string | null>;

/** Ask in a dialog of JupyterLab's. */
export const askInDialog: Ask = async ({ title, body, choices }) => {
  const { button } = await showDialog({
    title,
    body: paragraphs(body),
    buttons: [
      Dialog.cancelButton(),
      ...choices.map(({ label, isDanger }) =>
        isDanger ? Dialog.warnButton({ label }) : Dialog.okButton({ label })
      )
    ]
  });
  return choices.find(({ label }) => label === button.label)?.id ?? null;
};

function paragraphs(texts: readonly string[]): Widget {
  const node = document.createElement('div');
  node.className = 'da-asked';
  for (const text of texts) {
    node.appendChild(document.createElement('p')).textContent = text;
  }
  return new Widget({ node });
}
