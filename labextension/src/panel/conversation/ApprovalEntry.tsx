import React, { memo } from 'react';

import { Approval } from '../../approvals/Approval';
import { IApprovalEntry } from '../../session/turn';
import { CellLink, ChangeList } from '../changes/ChangeList';
import { Diff } from '../changes/Diff';
import { useCellNumber, usePanel } from '../context';

/** An act of a turn that waits for the user, with links to its cells and their diffs. */
export const ApprovalEntry = memo(
  (props: { entry: IApprovalEntry; target?: string }): JSX.Element => {
    const { entry } = props;
    const { model } = usePanel();
    const { changes } = entry;
    const only = changes.length === 1 ? changes[0] : null;
    return (
      <Approval
        entry={entry}
        cellNumber={useCellNumber(props.target)}
        title={only && <CellLink change={only} isProposed />}
        changes={
          only ? (
            <Diff change={only} />
          ) : changes.length ? (
            <ChangeList changes={changes} isProposed />
          ) : null
        }
        decide={(decision, feedback) =>
          model.decide(entry.id, decision, feedback)
        }
      />
    );
  }
);
