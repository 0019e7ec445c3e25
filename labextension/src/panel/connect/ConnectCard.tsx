import React, { useEffect, useRef } from 'react';

import { ConnectionsReply } from '../../api/types';
import { useValue } from '../../session/observable';
import { Problem } from '../../ui/Problem';
import { CardFrame } from '../toolsPanel/CardFrame';
import { usePanel } from '../context';
import { AddressForm } from './AddressForm';
import { keyLabel } from './labels';
import { LocalServers } from './LocalServers';
import { ProviderForm } from './ProviderForm';

/** Connecting a model: by a provider's key, on this computer, at an address. */
export function ConnectCard(): JSX.Element {
  const { connect } = usePanel().model.toolsPanel;
  const { reply, problem, done } = useValue(connect.shown);
  const top = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (done) {
      top.current?.scrollIntoView?.({ block: 'nearest' });
    }
  }, [done]);
  return (
    <CardFrame title="Connect a Model" testId="da-connect" takesFocus>
      <div role="status" ref={top}>
        {done && (
          <div className="da-notice" data-testid="da-connect-done">
            {`${done} You can send your message.`}
          </div>
        )}
      </div>
      {problem && (
        <Problem message={problem} onRetry={() => void connect.open()} />
      )}
      {!problem && !reply && <p>Loading</p>}
      {reply?.locked && <p data-testid="da-connect-locked">{reply.locked}</p>}
      {reply && !reply.locked && (
        <div className="da-connect">
          <Connected reply={reply} />
          <ProviderForm reply={reply} />
          <LocalServers />
          <details
            className="da-more"
            onToggle={({ currentTarget }) => {
              if (currentTarget.open) {
                currentTarget.querySelector('input')?.focus();
                currentTarget.scrollIntoView?.({ block: 'nearest' });
              }
            }}
          >
            <summary>Another server, by its address</summary>
            <AddressForm reply={reply} />
          </details>
        </div>
      )}
    </CardFrame>
  );
}

/** What is connected, each with where its key is and a way to forget it. */
function Connected(props: { reply: ConnectionsReply }): JSX.Element | null {
  const { connect } = usePanel().model.toolsPanel;
  const { connections } = props.reply;
  if (!connections.length) {
    return null;
  }
  return (
    <section aria-label="Connected">
      <h4>Connected</h4>
      <ul className="da-models">
        {connections.map(
          ({ id, label, address, keySource, needsKey, isDefault }) => (
            <li
              key={id}
              className="da-connect-row"
              data-testid="da-connect-connection"
              data-connection={id}
            >
              <span title={address}>
                {label}
                <span className="da-dim">
                  {[
                    '',
                    ...(needsKey
                      ? ['enter its key again: the server was restarted']
                      : keySource || !address
                        ? [keyLabel(keySource)]
                        : []),
                    ...(isDefault ? ['default'] : [])
                  ].join(' · ')}
                </span>
              </span>
              <button
                type="button"
                className="da-link"
                data-testid="da-connect-forget"
                aria-label={`Forget ${label}`}
                onClick={() => void connect.forget(id)}
              >
                Forget
              </button>
            </li>
          )
        )}
      </ul>
    </section>
  );
}
