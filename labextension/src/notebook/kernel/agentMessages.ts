import { Kernel, KernelMessage } from '@jupyterlab/services';

import { asMadeByAgent, isActive, needsTrust } from '../agentMark';

/** A run of the agent's code in a kernel, by this page. */
export interface IAgentRequest {
  /** The document that it belongs to. */
  path: () => string;
  /** Called before the page sees an output that could act there where it is trusted. */
  onActive: () => void;
}

/** The requests of the agent's to each kernel, by their message. */
const requests = new WeakMap<
  Kernel.IKernelConnection,
  Map<string, IAgentRequest>
>();

/**
 * Mark what comes of a request as the agent's, before anything in the page handles it.
 *
 * The mark is in the output's metadata, so that it is saved, copied and shared with the output. It
 * is set on the message: by a display id, code updates outputs of other cells as well.
 */
export function markOutputsOf(
  kernel: Kernel.IKernelConnection,
  msgId: string,
  request: IAgentRequest
): void {
  let known = requests.get(kernel);
  if (!known) {
    known = new Map();
    requests.set(kernel, known);
    // Emitted before a message is handled, and with the very message that is.
    kernel.anyMessage.connect(onMessage);
  }
  known.set(msgId, request);
}

/** The request of the agent's that a message of a kernel belongs to, if it is one. */
export function agentRequestOf(
  kernel: Kernel.IKernelConnection,
  msg: KernelMessage.IMessage
): IAgentRequest | undefined {
  const { msg_id } = msg.parent_header as Partial<KernelMessage.IHeader>;
  return msg_id === undefined ? undefined : requests.get(kernel)?.get(msg_id);
}

function onMessage(
  kernel: Kernel.IKernelConnection,
  { msg, direction }: Kernel.IAnyMessageArgs
): void {
  const request = direction === 'recv' && agentRequestOf(kernel, msg);
  if (!request) {
    return;
  }
  if (
    KernelMessage.isDisplayDataMsg(msg) ||
    KernelMessage.isUpdateDisplayDataMsg(msg) ||
    KernelMessage.isExecuteResultMsg(msg)
  ) {
    const { content } = msg;
    if (isActive(content.data)) {
      content.metadata = asMadeByAgent(content.metadata);
      if (needsTrust(content.data)) {
        request.onActive();
      }
    }
  } else if (KernelMessage.isExecuteReplyMsg(msg)) {
    keepHarmless(msg.content as { payload?: IPayload[] });
  }
}

/** What a reply has the page do beside outputs. */
interface IPayload {
  source?: unknown;
  data?: Record<string, unknown>;
}

/**
 * Help (`name?`) is shown as an output without metadata: of the agent's, its text alone. Cells are
 * written by its tools, which show what they change and take it back: not by its code
 * (`set_next_input`), which the server does not obey either.
 */
function keepHarmless(content: { payload?: IPayload[] }): void {
  content.payload = content.payload
    ?.filter(({ source }) => source !== 'set_next_input')
    .map(page =>
      page.source === 'page' && page.data
        ? { ...page, data: { 'text/plain': page.data['text/plain'] ?? '' } }
        : page
    );
}
