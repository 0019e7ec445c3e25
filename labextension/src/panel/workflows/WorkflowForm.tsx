import { PathExt } from '@jupyterlab/coreutils';
import React, { useEffect, useMemo, useState } from 'react';

import { WorkflowInfo } from '../../api/types';
import {
  IField,
  IForm,
  formOf,
  parametersFrom,
  problemsIn
} from './parameters';
import { useValue } from '../../session/observable';
import { Field } from './Field';
import { CardFrame } from '../toolsPanel/CardFrame';
import { Problem } from '../../ui/Problem';
import { usePanel } from '../context';

/** The form of a workflow, and the button that runs it. */
export function WorkflowForm(props: {
  id: string;
  /** What is known of its parameters. */
  initial?: Record<string, unknown>;
}): JSX.Element {
  const { toolsPanel } = usePanel().model;
  const { list, problem } = useValue(toolsPanel.workflows.known);
  const workflow = list?.find(({ id }) => id === props.id);
  if (workflow) {
    return (
      <CardFrame
        title={workflow.name}
        testId="da-workflow-form"
        takesFocus
        key={workflow.id}
      >
        <Form workflow={workflow} initial={props.initial} />
      </CardFrame>
    );
  }
  return (
    <CardFrame title="Workflow" testId="da-workflow-form" takesFocus>
      {problem ? (
        <Problem
          message={problem}
          onRetry={() => void toolsPanel.workflows.refresh()}
        />
      ) : list ? (
        <p>{`There is no workflow “${props.id}”.`}</p>
      ) : (
        <p>Loading the workflow</p>
      )}
      <AllWorkflows />
    </CardFrame>
  );
}

function Form(props: {
  workflow: WorkflowInfo;
  initial?: Record<string, unknown>;
}): JSX.Element {
  const { workflow } = props;
  const { model } = usePanel();
  const form = useMemo(() => formOf(workflow), [workflow]);
  const files = useDataFiles(form);
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(
      Object.entries(props.initial ?? {}).map(([name, value]) => [
        name,
        String(value)
      ])
    )
  );
  const [isTried, setTried] = useState(false);
  const [isSending, setSending] = useState(false);
  // Run was clicked before it was known which data files there are.
  const [isWanted, setWanted] = useState(false);

  const sure = sureFile(files, model.editor.activeNotebook);
  const all = sure ? { data: sure, ...values } : values;
  const problems = problemsIn(form, all);
  const field = (each: IField) => (
    <Field
      key={each.name}
      field={each}
      value={all[each.name] ?? each.initial}
      files={files}
      problem={isTried ? problems[each.name] : undefined}
      onChange={value => setValues({ ...values, [each.name]: value })}
    />
  );
  const isLooking = files === null && form.first.some(isData);
  const run = async () => {
    if (isLooking) {
      setWanted(true);
      return;
    }
    setWanted(false);
    setTried(true);
    if (Object.keys(problems).length) {
      return;
    }
    setSending(true);
    const parameters = parametersFrom(form, all);
    if (await model.toolsPanel.workflows.run(workflow, parameters)) {
      model.toolsPanel.close();
    } else {
      setSending(false);
    }
  };
  useEffect(() => {
    if (isWanted && !isLooking) {
      void run();
    }
  });
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault();
        void run();
      }}
    >
      <p className="da-dim">{workflow.description}</p>
      {form.first.map(field)}
      {form.more.length > 0 && (
        <details className="da-more">
          <summary>More options</summary>
          {form.more.map(field)}
        </details>
      )}
      <div className="da-buttons">
        <button
          type="submit"
          className="da-button da-mod-primary"
          disabled={isSending || isWanted}
        >
          {isSending || isWanted ? 'Starting' : 'Run'}
        </button>
        <AllWorkflows />
      </div>
    </form>
  );
}

function AllWorkflows(): JSX.Element {
  const { toolsPanel } = usePanel().model;
  return (
    <button
      type="button"
      className="da-link"
      onClick={() => toolsPanel.showWorkflows()}
    >
      All workflows
    </button>
  );
}

/** The only data file there is, or the only one beside the active notebook. */
function sureFile(
  files: readonly string[] | null,
  notebook: string | null
): string | null {
  const folder = PathExt.dirname(notebook ?? '');
  const beside = files?.filter(file => PathExt.dirname(file) === folder) ?? [];
  const [sure, other] = beside.length ? beside : (files ?? []);
  return sure && !other ? sure : null;
}

function isData({ kind }: IField): boolean {
  return kind === 'data';
}

/** The data files to choose from; null until they were looked for. */
function useDataFiles(form: IForm): readonly string[] | null {
  const { model } = usePanel();
  const [files, setFiles] = useState<readonly string[] | null>(null);
  const asksForData = form.first.some(isData);
  useEffect(() => {
    let isCurrent = true;
    if (asksForData) {
      model.editor.dataFiles().then(
        found => isCurrent && setFiles(found),
        () => isCurrent && setFiles([]) // One can be typed.
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [model, asksForData]);
  return files;
}
