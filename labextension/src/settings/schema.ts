import { ISettingRegistry } from '@jupyterlab/settingregistry';
import {
  JSONExt,
  PartialJSONObject,
  PartialJSONValue,
  ReadonlyPartialJSONObject
} from '@lumino/coreutils';

import { ConfigReply, ConfigValue } from '../api/types';

const LOCKED = 'Locked by the administrator of this server.';

/**
 * The schema with what holds on the server: its value as the default, so that the user sees it
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
  if (isShown(inherited)) {
    property.default = inherited as PartialJSONValue;
  }
  if (locked) {
    property.readOnly = true;
    property.description = [LOCKED, property.description].join(' ').trim();
  }
}

/**
 * What the editor shows: the user's values over the server's, and of what is locked the server's
 * alone. JupyterLab itself knows only the defaults that the schema had first.
 */
export function composed(
  { properties = {} }: ISettingRegistry.ISchema,
  user: PartialJSONObject,
  config: ConfigReply | null
): PartialJSONObject {
  const shown: PartialJSONObject = { ...user };
  for (const { name, inherited, locked } of config?.values ?? []) {
    const key = camel(name);
    if (!(key in properties)) {
      continue;
    }
    if (isShown(inherited) && (locked || user[key] === undefined)) {
      shown[key] = inherited as PartialJSONValue;
    } else if (locked) {
      delete shown[key];
    }
  }
  return shown;
}

/**
 * The user's own values. The editor saves all that it shows, also what is only inherited: that
 * would hold for ever, whatever the server's configuration says later.
 */
export function own(
  user: ReadonlyPartialJSONObject,
  config: ConfigReply
): ReadonlyPartialJSONObject {
  const values = new Map(config.values.map(each => [camel(each.name), each]));
  return Object.fromEntries(
    Object.entries(user).filter(([key, value]) => {
      const { inherited = null, editable = true } = values.get(key) ?? {};
      return (
        editable &&
        !JSONExt.deepEqual(
          (value ?? null) as PartialJSONValue,
          inherited as PartialJSONValue
        )
      );
    })
  );
}

/** Whether a field may show a value: not an address whose secrets are hidden. */
function isShown(value: unknown): boolean {
  const isMasked = typeof value === 'string' && value.includes('***');
  return value !== undefined && value !== null && !isMasked;
}

/** `max_tool_calls` as `maxToolCalls`. */
export function camel(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
