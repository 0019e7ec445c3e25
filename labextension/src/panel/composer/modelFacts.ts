import { ModelInfo } from '../../api/types';

/** What a model can do and costs, as far as it is known: "1M context", "images", "$2 in, $10 out". */
export function modelFacts(info: ModelInfo): string[] {
  const { contextWindow, assumedContextWindow, vision, reasoningEfforts } =
    info;
  return [
    contextWindow
      ? `${tokens(contextWindow)} context`
      : assumedContextWindow
        ? `${tokens(assumedContextWindow)} context assumed`
        : '',
    vision ? 'images' : '',
    reasoningEfforts?.length ? 'reasoning' : '',
    price(info)
  ].filter(Boolean);
}

/** A model's label without what it needs: "qwen" for "qwen (needs 2 GB)". */
export function shortLabel({ label }: ModelInfo): string {
  return label.replace(/ \(needs [^()]*\)$/, '');
}

/** What a model can do and costs, in sentences, for the tooltip of its row. */
export function modelDetails(info: ModelInfo): string {
  const { contextWindow, assumedContextWindow, vision, reasoningEfforts } =
    info;
  const cost = price(info);
  return [
    info.id,
    contextWindow &&
      `Reads up to ${contextWindow.toLocaleString('en')} tokens.`,
    !contextWindow &&
      assumedContextWindow &&
      `How much it reads is not known; ${assumedContextWindow.toLocaleString('en')} tokens are assumed. To change that: Settings, Agent, Context window.`,
    vision && 'Sees images.',
    reasoningEfforts?.length && `Reasons: ${reasoningEfforts.join(', ')}.`,
    cost && `${cost}, in US dollars per million tokens.`
  ]
    .filter(Boolean)
    .join('\n');
}

function price({ inputPrice, outputPrice }: ModelInfo): string {
  return inputPrice === undefined || outputPrice === undefined
    ? ''
    : `$${dollars(inputPrice)} in, $${dollars(outputPrice)} out`;
}

function dollars(amount: number): string {
  return Number.isInteger(amount) ? `${amount}` : amount.toFixed(2);
}

/** 1,048,576 as "1M", 8,192 as "8k". */
function tokens(count: number): string {
  return count >= 1_000_000
    ? `${Math.floor(count / 100_000) / 10}M`
    : `${Math.floor(count / 1000)}k`;
}
