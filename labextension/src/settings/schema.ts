import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { JSONExt, PartialJSONValue } from '@lumino/coreutils';

import { ConfigReply, ConfigValue } from '../api/types';

const LOCKED = 'Locked by the administrator of this server.';

/**
 * The schema with what holds on the server: its value as the default, so that the person sees it
 * and goes back to it, and what an administrator locked as such.
 */
export function asTheServerHasIt(
  schema: ISettingRegistry.ISchema,
  config: ConfigReply | null
): ISettingRegistry.ISchema {
  if (!config) {
    return schema;
  }
  const copy = JSONExt.deepCopy(schema) as ISettingRegistry.ISchema;
  const values = new Map(config.values.map(each => [camel(each.name), each]));
  for (const [name, property] of Object.entries(copy.properties ?? {})) {
    const value = values.get(name);
    if (value) {
      fill(property, value);
    }
  }
  return copy;
}

function fill(property: ISettingRegistry.IProperty, value: ConfigValue): void {
  const { inherited, locked } = value;
  // An address is shown without its secrets: as a default it would be taken for the address.
  if (inherited !== undefined && inherited !== null && !isMasked(inherited)) {
    property.default = inherited as PartialJSONValue;
  }
  if (locked) {
    property.readOnly = true;
    property.description = [LOCKED, property.description].join(' ').trim();
  }
}

function isMasked(value: unknown): boolean {
  return typeof value === 'string' && value.includes('***');
}

/** `max_tool_calls` as `maxToolCalls`. */
export function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
