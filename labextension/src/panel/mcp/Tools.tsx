import React, { useId } from 'react';

import { McpTool, McpTrust } from '../../api/types';
import { usePanel } from '../context';
import { TRUST } from './labels';

/** The tools of a server, each with a switch and how far it is trusted. */
export function Tools(props: {
  server: string;
  tools: readonly McpTool[];
}): JSX.Element {
  const { mcp } = usePanel().model.toolsPanel;
  const { server, tools } = props;
  const [first, ...others] = tools.map(({ trust }) => trust);
  const common = others.every(trust => trust === first) ? first : '';
  return (
    <div className="da-mcp-tools">
      <p className="da-dim">
        Trusted tools are called in Agent mode without asking, and tools that
        only read in every mode.
      </p>
      {tools.length > 1 && (
        <div className="da-mcp-tool">
          <span>All of these tools</span>
          <Trust
            label={`All tools of ${server}`}
            value={common}
            onChange={trust => void mcp.change(server, { trust })}
          />
        </div>
      )}
      {tools.map(tool => (
        <Tool key={tool.name} server={server} tool={tool} />
      ))}
    </div>
  );
}

function Tool(props: { server: string; tool: McpTool }): JSX.Element {
  const { mcp } = usePanel().model.toolsPanel;
  const { server, tool } = props;
  const { name, title, description, enabled, trust, hasChanged } = tool;
  const change = (setting: { enabled?: boolean; trust?: McpTrust }) =>
    void mcp.change(server, { tools: { [name]: setting } });
  return (
    <div className="da-mcp-tool" data-testid="da-mcp-tool" data-tool={name}>
      <label title={tool.modelName ?? name}>
        <input
          type="checkbox"
          data-testid="da-mcp-tool-enabled"
          checked={enabled}
          onChange={event => change({ enabled: event.target.checked })}
        />
        {title}
      </label>
      {enabled && (
        <Trust
          label={`Trust in ${title}`}
          value={trust}
          onChange={trust => change({ trust })}
        />
      )}
      {hasChanged && (
        <div className="da-mcp-about" data-testid="da-mcp-changed">
          Changed since you trusted it, so it asks again.
        </div>
      )}
      {description && (
        <div className="da-mcp-about da-dim" title={description}>
          {description}
        </div>
      )}
      {tool.saysItReads && (
        <div className="da-mcp-about da-dim">
          The server says that it only reads.
        </div>
      )}
    </div>
  );
}

function Trust(props: {
  label: string;
  /** Empty where tools differ. */
  value: McpTrust | '';
  onChange: (trust: McpTrust) => void;
}): JSX.Element {
  const id = useId();
  return (
    <select
      id={id}
      className="da-field"
      aria-label={props.label}
      data-testid="da-mcp-trust"
      value={props.value}
      onChange={event => props.onChange(event.target.value as McpTrust)}
    >
      {props.value === '' && <option value="">Different</option>}
      {TRUST.map(([trust, label]) => (
        <option key={trust} value={trust}>
          {label}
        </option>
      ))}
    </select>
  );
}
