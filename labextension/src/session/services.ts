import { ActionProposed, Event } from '../api/types';
import { Entry, IActionEntry, ITurn } from './turn';
import { append } from './turnEntries';

/** The proposals of a session: the turn that has the newest version, and those that were run. */
export interface IProposals {
  newest: ReadonlyMap<string, string>;
  done: ReadonlySet<string>;
}

export const NO_PROPOSALS: IProposals = { newest: new Map(), done: new Set() };

/** A turn after an event of services and their actions. */
export function reduceServices(turn: ITurn, event: Event): ITurn {
  switch (event.type) {
    case 'intent_detected': {
      const { service, subcommand, title, alternatives, how } = event;
      const intent = { service, subcommand, title, alternatives, how };
      return { ...turn, intent };
    }
    case 'help_shown':
      return append(turn, {
        kind: 'help',
        id: `help-${event.seq}`,
        services: event.services
      });
    case 'actions_offered':
      return append(turn, {
        kind: 'actions-offered',
        id: `actions-offered-${event.seq}`,
        text: event.text,
        offers: event.offers
      });
    case 'command_unknown':
      return { ...turn, hasUnknownCommand: true };
    case 'action_proposed':
      return proposed(turn, event);
    case 'action_started':
      return append(doing(turn, event.title), {
        kind: 'action',
        id: `action-${event.seq}`,
        title: event.title,
        proposalId: event.proposalId,
        status: 'running',
        output: '',
        paths: []
      });
    case 'action_progress':
      return running(doing(turn, event.message), {
        message: event.message,
        fraction: event.fraction
      });
    case 'action_finished':
      return running(turn, {
        status: event.status,
        output: event.output ?? '',
        paths: event.paths ?? []
      });
    default:
      return turn;
  }
}

/** Whether a reply only repeats, for those who read text alone, what the turn shows. */
export function isShownAlready(
  { entries, plan }: ITurn,
  reply: string
): boolean {
  const last = entries[entries.length - 1];
  return (
    !plan &&
    (last?.kind === 'proposal' ||
      last?.kind === 'help' ||
      last?.kind === 'actions-offered' ||
      (last?.kind === 'action' && last.output.trim() === reply.trim()))
  );
}

/** The proposals of these turns, which are in order. */
export function proposalsIn(turns: readonly ITurn[]): IProposals {
  const newest = new Map<string, string>();
  const done = new Set<string>();
  for (const { id, entries } of turns) {
    for (const entry of entries) {
      if (entry.kind === 'proposal') {
        newest.set(entry.id, id);
      } else if (entry.kind === 'action' && entry.status === 'ok') {
        done.add(entry.proposalId ?? '');
      }
    }
  }
  return newest.size ? { newest, done } : NO_PROPOSALS;
}

function proposed(turn: ITurn, event: ActionProposed): ITurn {
  const { seq: _, at: __, type: ___, turnId: ____, ...proposal } = event;
  const entry: Entry = {
    kind: 'proposal',
    id: event.proposalId,
    proposal
  };
  const others = turn.entries.filter(({ id }) => id !== entry.id);
  return { ...turn, entries: [...others, entry] };
}

function doing(turn: ITurn, message: string): ITurn {
  return { ...turn, activity: { kind: 'message', message } };
}

/** The turn with a change of the action that runs. */
function running(turn: ITurn, change: Partial<IActionEntry>): ITurn {
  return {
    ...turn,
    entries: turn.entries.map(entry =>
      entry.kind === 'action' && entry.status === 'running'
        ? { ...entry, ...change }
        : entry
    )
  };
}
