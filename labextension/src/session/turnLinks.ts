/** `[text](turn:ID)`: how an answer cites a turn. */
const CITED = /\]\(turn:([\w-]+)\)/g;

/** A link within the page, which no sanitizer takes away and which leads nowhere by itself. */
const ANCHOR = /^#turn-([\w-]+)$/;

/** The same to a session: what `%agent` writes while something waits for the user there. */
const SESSION_ANCHOR = /^#session-([\w-]+)$/;

/** The same Markdown with its citations as links that JupyterLab's renderer keeps. */
export function forNotebook(markdown: string): string {
  return markdown.replace(CITED, '](#turn-$1)');
}

/** The same to one of several answers of the turn in which it stands. */
const ANSWER_ANCHOR = /^#answer-([\w-]+)$/;

/** The answer that a link leads to, if it leads to one. */
export function answerOf(address: string | null): string | null {
  return ANSWER_ANCHOR.exec(address?.trim() ?? '')?.[1] ?? null;
}

/** The turn that a link leads to, if it leads to one. */
export function turnOf(address: string | null): string | null {
  return ANCHOR.exec(address?.trim() ?? '')?.[1] ?? null;
}

/** The session that a link leads to, if it leads to one. */
export function sessionOf(address: string | null): string | null {
  return SESSION_ANCHOR.exec(address?.trim() ?? '')?.[1] ?? null;
}
