/** A model that may be named. */
export interface INamedModel {
  id: string;
  label: string;
}

/** What was typed after `/compare`. */
export interface ICompareText {
  /** Ids of the models that were named. */
  models: readonly string[];
  /** Names that are those of no model, or of several. */
  unknown: readonly string[];
  question: string;
}

/**
 * Read `@model @model question`. A model is named by its id, by what follows the provider in it, or
 * by its label with hyphens; names come before the question, in which `@` refers to files.
 */
export function readCompareText(
  text: string,
  known: readonly INamedModel[]
): ICompareText {
  const models: string[] = [];
  const unknown: string[] = [];
  let rest = text.trim();
  for (;;) {
    const [whole, name] = /^@([^\s,]+)(?:,?\s+|,?$)/.exec(rest) ?? [];
    if (!whole) {
      return { models, unknown, question: rest };
    }
    const id = modelNamed(name, known);
    if (!id && models.length >= 2) {
      // Enough models are named: this is a file that the question is about.
      return { models, unknown, question: rest };
    }
    if (!id) {
      unknown.push(name);
    } else if (!models.includes(id)) {
      models.push(id);
    }
    rest = rest.slice(whole.length);
  }
}

function modelNamed(
  name: string,
  known: readonly INamedModel[]
): string | undefined {
  const wanted = name.toLowerCase();
  const fits = (candidates: readonly INamedModel[]) =>
    candidates.length === 1 ? candidates[0].id : undefined;
  const short = ({ id }: INamedModel) =>
    id.slice(id.indexOf('/') + 1).toLowerCase();
  return (
    fits(known.filter(({ id }) => id.toLowerCase() === wanted)) ??
    fits(known.filter(model => short(model) === wanted)) ??
    fits(
      known.filter(
        ({ label }) => label.toLowerCase().replace(/\s+/g, '-') === wanted
      )
    )
  );
}
