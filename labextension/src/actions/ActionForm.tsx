import { FormComponent } from '@jupyterlab/ui-components';
import { ReadonlyJSONObject } from '@lumino/coreutils';
import React, { useEffect, useMemo, useRef, useState } from 'react';

import { ActionProposal } from '../api/types';
import { useAfterRender } from '../ui/afterRender';
import { Problem } from '../ui/Problem';
import { SCHEMA_FORM } from '../ui/schemaForm';
import { formOf, given, problemsOf, valuesOf } from './formSchema';
import { useActionHost } from './host';

/** How long after the last key the choices of other fields are asked for again, in ms. */
const QUIET_MS = 400;

/** Properties of an `ActionForm`. */
export interface IActionFormProps {
  proposal: ActionProposal;
  /** Run the action; false where that could not be asked. */
  onRun: (parameters: Record<string, unknown>) => Promise<boolean>;
  onClose: () => void;
}

type Values = Record<string, unknown>;

/**
 * The form of an action, filled in with what is known. What is typed here is kept nowhere else.
 *
 * Before it is run, and where an answer may change what can be chosen elsewhere, a dry run says
 * what is asked now: the next question of a wizard, or what is wrong with a value.
 */
export default function ActionForm(props: IActionFormProps): JSX.Element {
  const { onRun, onClose } = props;
  const host = useActionHost();
  const [proposal, setProposal] = useState(props.proposal);
  const [values, setValues] = useState<Values>(() => valuesOf(props.proposal));
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const { schema, uiSchema } = useMemo(() => formOf(proposal), [proposal]);
  const frame = useRef<HTMLDivElement>(null);
  // Twice: RJSF takes what it is given into its own state, and renders that afterwards.
  const focusNext = useAfterRender(
    useAfterRender(() => focusFirst(frame.current))
  );
  const asked = useRef(0);
  const timer = useRef(0);
  useEffect(() => {
    focusFirst(frame.current);
    return () => window.clearTimeout(timer.current);
  }, []);

  /** What is asked with these values; null where a newer question has overtaken this one. */
  const dryRun = async (now: Values): Promise<ActionProposal | null> => {
    const number = ++asked.current;
    const next = await host.dryRun(
      proposal,
      given(now, proposal),
      props.proposal.notebook
    );
    return number === asked.current ? next : null;
  };
  const change = (now: Values) => {
    setValues(now);
    setFailure(null);
    window.clearTimeout(timer.current);
    if (!proposal.wizard) {
      timer.current = window.setTimeout(() => void refresh(now), QUIET_MS);
    }
  };
  const refresh = async (now: Values) => {
    const next = await dryRun(now).catch(() => null);
    if (next) {
      setProposal(keepOrder(proposal, next));
    }
  };
  const submit = async (now: Values) => {
    window.clearTimeout(timer.current);
    setBusy(true);
    setFailure(null);
    try {
      const next = await dryRun(now);
      if (!next) {
        return;
      }
      const isAskedMore = next.parameters.some(
        ({ name }) => !proposal.parameters.some(each => each.name === name)
      );
      if (next.complete && !isAskedMore) {
        if (await onRun(given(now, next))) {
          onClose();
        }
        return;
      }
      setProposal(keepOrder(proposal, next));
      setValues({ ...valuesOf(next), ...given(now, next) });
      if (!isAskedMore && !next.parameters.some(({ problem }) => problem)) {
        setFailure(next.description ?? null);
      }
      focusNext();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const isLast = !proposal.wizard || proposal.complete;
  return (
    <div className="da-action-form" data-testid="da-action-form" ref={frame}>
      {proposal.destroys && <Destroys text={proposal.destroys} />}
      <FormComponent
        {...SCHEMA_FORM}
        schema={schema}
        uiSchema={uiSchema}
        formData={values as ReadonlyJSONObject}
        extraErrors={problemsOf(proposal) as never}
        extraErrorsBlockSubmit={false}
        onError={focusNext}
        disabled={isBusy}
        idPrefix={`da-${proposal.action}`}
        onChange={event => change(event.formData as Values)}
        onSubmit={event => void submit(event.formData as Values)}
      >
        {failure && <Problem message={failure} />}
        <div className="da-buttons">
          <button
            type="submit"
            className={`da-button ${proposal.destructive && isLast ? 'da-mod-danger' : 'da-mod-primary'}`}
            disabled={isBusy || host.isWorking}
            title={host.isWorking ? 'The agent is still working' : undefined}
          >
            {isLast ? 'Run' : 'Next'}
          </button>
          <button type="button" className="da-button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </FormComponent>
    </div>
  );
}

/** What a destructive action would destroy. */
export function Destroys(props: { text: string }): JSX.Element {
  return <div className="da-notice da-mod-warning">{props.text}</div>;
}

/** The fields stay where they are while the user types; new ones come last. */
function keepOrder(
  before: ActionProposal,
  next: ActionProposal
): ActionProposal {
  const found = new Map(
    before.parameters.map(({ name, found }) => [name, found])
  );
  return {
    ...next,
    parameters: next.parameters.map(each => ({
      ...each,
      found: found.get(each.name) ?? each.found
    }))
  };
}

const FIELDS = ':is(input, select, textarea)';

/** The first field that is wrong or must be filled in; else the button that runs it. */
function focusFirst(node: HTMLElement | null): void {
  const fields = [
    ...(node?.querySelectorAll<HTMLInputElement | HTMLSelectElement>(FIELDS) ??
      [])
  ];
  const first =
    node?.querySelector<HTMLElement>(`[data-invalid="true"] ${FIELDS}`) ??
    fields.find(field => field.required && !field.value) ??
    node?.querySelector<HTMLButtonElement>('button[type="submit"]');
  first?.focus();
}
