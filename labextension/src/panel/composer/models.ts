import { ModelInfo, ModelsReply } from '../../api/types';
import { Observable } from '../../session/observable';

/** The models as the server lists them; null until it has. */
export class Models extends Observable<ModelsReply | null> {
  constructor(private readonly _load: () => Promise<ModelsReply>) {
    super(null);
  }

  /** Ask again. Rejects with an `ApiError`. */
  async refresh(): Promise<void> {
    this.set(await this._load());
  }
}

/** Whether the chosen model could be called now; if not, why, and which one could. */
export interface IReadiness {
  isReady: boolean;
  /** Why not, in a sentence. */
  message?: string;
  /** A model that could be called instead. */
  other?: ModelInfo;
}

/**
 * The readiness of the model that the next message goes to. What the server does not list, or has
 * not listed yet, is for it to judge.
 */
export function readinessOf(
  reply: ModelsReply | null,
  chosen?: string
): IReadiness {
  if (!reply) {
    return { isReady: true };
  }
  if (!chosen || chosen === reply.default) {
    return {
      isReady: reply.ready,
      message: reply.message,
      other: reply.models.find(({ ready }) => ready)
    };
  }
  const info = reply.models.find(({ id }) => id === chosen);
  if (!info || info.ready) {
    return { isReady: true };
  }
  return {
    isReady: false,
    message: `${info.label} is not available. ${info.reason ?? ''}`.trim(),
    other: readyModels(reply)[0]
  };
}

/** The models that could be called now, the default first. */
export function readyModels(reply: ModelsReply): ModelInfo[] {
  const isDefault = ({ id }: ModelInfo) => (id === reply.default ? 0 : 1);
  return reply.models
    .filter(({ ready }) => ready)
    .sort((a, b) => isDefault(a) - isDefault(b));
}
