import React, { useId, useState } from 'react';

import { FoundServer } from '../../api/types';
import { useValue } from '../../session/observable';
import { usePanel } from '../context';
import { modelFacts } from './labels';

/** How many models of a server are shown at first. */
const FEW = 4;

/** The model servers of this computer with their models; a click uses one. */
export function LocalServers(): JSX.Element {
  const { connect } = usePanel().model.toolsPanel;
  const { servers, isLooking } = useValue(connect.shown);
  const id = useId();
  return (
    <section aria-labelledby={id} data-testid="da-connect-local">
      <div className="da-connect-head">
        <h4 id={id}>On this computer</h4>
        <button
          type="button"
          className="da-link"
          data-testid="da-connect-look"
          disabled={isLooking}
          onClick={() => void connect.lookAgain()}
        >
          {servers ? 'Look again' : 'Look for models'}
        </button>
      </div>
      <div role="status">
        {isLooking && (
          <p className="da-dim">
            Looking for Ollama, LM Studio, llama.cpp and vLLM
          </p>
        )}
        {!isLooking && servers && !servers.length && (
          <p className="da-dim">
            Found none of Ollama, LM Studio, llama.cpp and vLLM. Start one, then
            look again.
          </p>
        )}
      </div>
      {servers?.map(server => (
        <Server key={server.address} server={server} />
      ))}
    </section>
  );
}

/** A server with its models, each a button that uses it. */
export function Server(props: {
  server: FoundServer;
  /** The key that was typed for it. */
  choose?: (model: string) => Promise<string | null>;
}): JSX.Element {
  const { server } = props;
  const { connect } = usePanel().model.toolsPanel;
  const [isWhole, setWhole] = useState(false);
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const choose =
    props.choose ??
    (model => connect.connect({ address: server.address, model }));
  const use = async (model: string) => {
    setBusy(model);
    setProblem(null);
    setProblem(await choose(model));
    setBusy(null);
  };
  const models = isWhole ? server.models : server.models.slice(0, FEW);
  return (
    <div data-testid="da-connect-server">
      <div className="da-dim da-connect-server" title={server.address}>
        {`${server.label} · ${server.address.replace(/^https?:\/\//, '')}`}
      </div>
      {!server.models.length && (
        <p>
          {server.label === 'Ollama'
            ? 'It has no model yet: ollama pull qwen3, then look again.'
            : 'It has no model yet. Load one there, then look again.'}
        </p>
      )}
      <ul className="da-models">
        {models.map(model => (
          <li key={model.name}>
            <button
              type="button"
              className="da-menu-item"
              data-testid="da-connect-model"
              disabled={busy !== null}
              title={`Use ${model.name}`}
              onClick={() => void use(model.name)}
            >
              <span className="da-connect-model">
                <span>{model.name}</span>
                <span className="da-dim">{modelFacts(model)}</span>
              </span>
              <span className="da-connect-use">
                {busy === model.name ? 'Connecting' : 'Use'}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {models.length < server.models.length && (
        <button
          type="button"
          className="da-link"
          onClick={() => setWhole(true)}
        >
          {`All ${server.models.length} models`}
        </button>
      )}
      {problem && (
        <div className="da-notice da-mod-error" role="alert">
          {problem}
        </div>
      )}
    </div>
  );
}
