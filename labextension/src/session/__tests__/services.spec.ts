import { ActionProposal, Event } from '../../api/types';
import { activityLabel, doneAndNot } from '../turnLabels';
import { reduceTurn } from '../reduceTurn';
import { ConversationStore } from '../store';
import { ITurn, emptyTurn } from '../turn';
import { settled } from '../turnEntries';

const PROPOSAL: ActionProposal = {
  proposalId: 'p1',
  service: 'notebook',
  action: 'export',
  title: 'Export the notebook',
  description: '',
  parameters: [],
  complete: true,
  destructive: false,
  wizard: false
};

/** The turn after these events. */
function after(...events: object[]): ITurn {
  return events
    .map((event, index) => ({ seq: index + 1, at: 1, ...event }) as Event)
    .reduce(reduceTurn, emptyTurn('t1'));
}

const proposed = { type: 'action_proposed', turnId: 't1', ...PROPOSAL };
const started = {
  type: 'action_started',
  service: 'notebook',
  action: 'export',
  title: 'Export the notebook',
  proposalId: 'p1'
};
const finished = (status: string, output = '') => ({
  type: 'action_finished',
  status,
  output,
  paths: output ? ['cars.html'] : []
});
const reply = (text: string) => ({ type: 'final_reply', text });

describe('a turn for a service', () => {
  it('knows what the message was understood to ask', () => {
    const alternatives = [{ service: 'data', confidence: 0.3 }];
    const { intent } = after({
      type: 'intent_detected',
      service: 'notebook',
      subcommand: 'export',
      title: 'Notebook: Export the notebook',
      confidence: 0.9,
      how: 'ranking',
      alternatives
    });
    expect(intent).toEqual({
      service: 'notebook',
      subcommand: 'export',
      title: 'Notebook: Export the notebook',
      how: 'ranking',
      alternatives
    });
  });

  it('shows a proposal and help once, not as text again', () => {
    const { entries } = after(proposed, reply('**Export the notebook**'));
    expect(entries).toEqual([
      { kind: 'proposal', id: 'p1', proposal: PROPOSAL }
    ]);
    const help = after(
      { type: 'help_shown', services: [] },
      reply('**`/data`**')
    );
    expect(help.entries.map(({ kind }) => kind)).toEqual(['help']);
  });

  it('shows the text of an answer that follows no card', () => {
    expect(after(reply('By nbconvert.')).entries).toMatchObject([
      { kind: 'text', text: 'By nbconvert.' }
    ]);
    expect(
      after(started, finished('ok', 'Done.'), reply('Other.')).entries
    ).toHaveLength(2);
  });

  it('takes a proposal that is made again in place of the first', () => {
    const again = { ...proposed, complete: false };
    expect(after(proposed, again).entries).toMatchObject([
      { kind: 'proposal', proposal: { complete: false } }
    ]);
  });
});

describe('a run of an action', () => {
  const progress = {
    type: 'action_progress',
    message: 'Exporting to HTML',
    fraction: 0.5
  };

  it('says how far it is, and what came of it', () => {
    const running = after(started, progress);
    expect(running.entries).toMatchObject([
      { status: 'running', message: 'Exporting to HTML', fraction: 0.5 }
    ]);
    expect(activityLabel(running, () => null)).toBe('Exporting to HTML');
    const ended = after(
      started,
      progress,
      finished('ok', 'Exported.'),
      reply('Exported.')
    );
    expect(ended.entries).toMatchObject([
      {
        kind: 'action',
        status: 'ok',
        output: 'Exported.',
        paths: ['cars.html']
      }
    ]);
  });

  it('that was stopped and says how things are now is not said to have left anything', () => {
    const said = after(started, finished('cancelled', 'As it was.'));
    expect(doneAndNot(said, () => null).hadBegun).toBe(false);
    const silent = after(started, finished('cancelled'));
    expect(doneAndNot(silent, () => null).hadBegun).toBe(true);
  });

  it('that was cut off is cancelled, and named as not finished', () => {
    const cut = settled(after(started, progress));
    expect(cut.entries).toMatchObject([{ status: 'cancelled' }]);
    expect(doneAndNot(cut, () => null)).toEqual({
      done: [],
      not: ['export the notebook'],
      hadBegun: true
    });
  });
});

describe('the proposals of a session', () => {
  const store = () => {
    const made = new ConversationStore();
    let seq = 0;
    const apply = (turnId: string, ...events: object[]) =>
      events.forEach(event =>
        made.apply({ at: 1, ...event, turnId, seq: ++seq } as Event)
      );
    const start = { type: 'turn_started', message: '', tools: [], mode: 'ask' };
    return { made, apply, start };
  };

  it('are those of the newest turn that has them, and those that were run', () => {
    const { made, apply, start } = store();
    apply('t1', start, proposed);
    apply('t2', start, proposed);
    expect([...made.proposals.current.newest]).toEqual([['p1', 't2']]);
    expect(made.proposals.current.done.size).toBe(0);
    apply('t3', start, started, finished('error'));
    expect(made.proposals.current.done.size).toBe(0);
    apply('t4', start, started, finished('ok', 'Exported.'));
    expect([...made.proposals.current.done]).toEqual(['p1']);
  });

  it('are without those of turns that were reverted', () => {
    const { made, apply, start } = store();
    apply('t1', start, proposed);
    apply('t2', start, proposed);
    made.apply({
      type: 'went_back',
      seq: 9,
      at: 1,
      withdrawn: ['t2']
    } as unknown as Event);
    expect([...made.proposals.current.newest]).toEqual([['p1', 't1']]);
  });
});
