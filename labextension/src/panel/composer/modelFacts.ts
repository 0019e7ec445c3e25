import { ModelInfo } from '../../api/types';

/** What a model can do and costs, as far as it is known: "1M context", "images", "$2 in, $10 out". */
export function modelFacts(info: ModelInfo): string[] {
  const { contextWindow, vision, reasoningEfforts } = info;
  return [
    contextWindow ? `${tokens(contextWindow)} context` : '',
    vision ? 'images' : '',
    reasoningEfforts?.length ? 'reasoning' : '',
    price(info)
  ].filter(Boolean);
}

/** What a model can do and costs, in sentences, for the tooltip of its row. */
export function modelDetails(info: ModelInfo): string {
  const { id, contextWindow, vision, reasoningEfforts } = info;
  const cost = price(info);
  return [
    id,
    contextWindow &&
      `Reads up to ${contextWindow.toLocaleString('en')} tokens.`,
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
