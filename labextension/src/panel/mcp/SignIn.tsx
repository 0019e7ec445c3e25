import React, { useRef, useState } from 'react';

import { McpServerInfo, McpSignInReply } from '../../api/types';
import { useValue } from '../../session/observable';
import { KeyField } from '../connect/KeyField';
import { usePanel } from '../context';

/** Signing in to a server that asks for it: on its own page, in another tab of the browser. */
export function SignIn(props: { server: McpServerInfo }): JSX.Element | null {
  const { mcp } = usePanel().model.toolsPanel;
  const { busy } = useValue(mcp.shown);
  const { name, clientId, signIn, signInProblem } = props.server;
  const secret = useRef<HTMLInputElement>(null);
  const [offer, setOffer] = useState<McpSignInReply | null>(null);
  if (signIn !== 'needed' && signIn !== 'waiting') {
    return null;
  }
  const begin = async (keepInFile: boolean) => {
    // Opened by the click itself: browsers block what is opened later.
    const tab = window.open('about:blank', '_blank');
    if (tab) {
      tab.opener = null;
    }
    const reply = await mcp.signIn(name, keepInFile, secret.current?.value);
    setOffer(reply);
    if (reply?.address) {
      tab?.location.replace(reply.address);
    } else {
      tab?.close();
    }
  };
  return (
    <div className="da-mcp-sign-in" data-testid="da-mcp-sign-in">
      {signInProblem && (
        <div className="da-notice da-mod-error">{signInProblem}</div>
      )}
      {signIn === 'waiting' ? (
        <p className="da-dim" role="status">
          {'Waiting until you have signed in. '}
          {offer?.address && (
            <a href={offer.address} target="_blank" rel="noopener noreferrer">
              Open the page again
            </a>
          )}
        </p>
      ) : (
        offer?.file && (
          <p>
            {`${offer.keyringProblem ?? ''} The sign-in can be kept in a file that only your user can read, in `}
            <code>{offer.file}</code>
          </p>
        )
      )}
      {clientId && signIn === 'needed' && (
        <div className="da-form-field">
          <KeyField
            field={secret}
            label="Client secret, if it has one and it is not kept yet"
            testId="da-mcp-client-secret"
          />
        </div>
      )}
      <div className="da-buttons">
        {signIn === 'waiting' ? (
          <button
            type="button"
            className="da-button"
            data-testid="da-mcp-sign-in-cancel"
            onClick={() => void mcp.signOut(name)}
          >
            Cancel
          </button>
        ) : (
          <button
            type="button"
            className="da-button da-mod-primary"
            data-testid="da-mcp-sign-in-begin"
            aria-label={`Sign in to ${name}`}
            disabled={busy === name}
            onClick={() => void begin(!!offer?.file)}
          >
            {offer?.file ? 'Keep it there and sign in' : 'Sign in'}
          </button>
        )}
      </div>
    </div>
  );
}
