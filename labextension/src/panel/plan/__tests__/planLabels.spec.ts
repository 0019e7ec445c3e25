import { PlanStep } from '../../../api/types';
import { blockedLabel, needsLabel, noteLabel } from '../planLabels';

const step = (more: Partial<PlanStep> = {}): PlanStep => ({
  description: 'Step',
  toolCalls: [],
  status: 'pending',
  ...more
});

test('a note says how the fix of its step goes, or why the step is not done', () => {
  expect(noteLabel({ kind: 'fixing', attempt: 1, maxAttempts: 3 })).toBe(
    'Fixing, attempt 1 of 3'
  );
  expect(noteLabel({ kind: 'fixed', message: 'used the column `hp`' })).toBe(
    'Fixed: used the column `hp`'
  );
  for (const message of ['', 'Fixed', 'Repaired']) {
    expect(noteLabel({ kind: 'fixed', message })).toBe('Fixed');
  }
  const failed = { kind: 'failed', message: '' } as const;
  expect(noteLabel({ ...failed, isFix: true })).toBe('The fix failed');
  expect(noteLabel({ ...failed, isFix: false })).toBe('');
  expect(
    noteLabel({ kind: 'failed', message: 'Cell 3 failed', isFix: false })
  ).toBe('Cell 3 failed');
  expect(noteLabel({ kind: 'denied' })).toBe('You declined this.');
});

test('a step that is not begun says which one it needs', () => {
  const steps = [step({ status: 'skipped' }), step({ status: 'failed' })];
  expect(blockedLabel(0, steps)).toBe(
    'Not started: it needs step 1, which was skipped'
  );
  expect(blockedLabel(1, steps)).toBe(
    'Not started: it needs step 2, which failed'
  );
});

test('what a step needs is said where it is not just the one before', () => {
  expect(needsLabel(step(), 2)).toBe(undefined);
  expect(needsLabel(step({ dependencies: [1] }), 2)).toBe(undefined);
  expect(needsLabel(step({ dependencies: [0] }), 2)).toBe('needs step 1');
  expect(needsLabel(step({ dependencies: [0, 1, 2] }), 3)).toBe(
    'needs steps 1, 2 and 3'
  );
});
