import { CommandRegistry } from '@lumino/commands';

import { ExecuteCommandParams } from '../../api';
import { executeCommand } from '../commands';

describe('commands of the page', () => {
  let commands: CommandRegistry;
  let executed: unknown[];

  beforeEach(() => {
    commands = new CommandRegistry();
    executed = [];
    for (const id of ['apputils:change-theme', 'filebrowser:delete']) {
      commands.addCommand(id, {
        execute: args => {
          executed.push([id, args]);
        }
      });
    }
  });

  it('carries out what is allowed, with its arguments', async () => {
    const args = { theme: 'JupyterLab Dark' };
    await executeCommand(commands, { id: 'apputils:change-theme', args });
    expect(executed).toEqual([['apputils:change-theme', args]]);
  });

  it.each(['filebrowser:delete', 'toString', '__proto__'])(
    'refuses %s, whatever the server asks for',
    async id => {
      const params = { id, args: {} } as unknown as ExecuteCommandParams;
      await expect(executeCommand(commands, params)).rejects.toThrow(
        `The page does not carry out ${id}.`
      );
      expect(executed).toEqual([]);
    }
  );

  it('does not wait for the end of a run', async () => {
    commands.addCommand('notebook:run-all-cells', {
      execute: () => new Promise(() => undefined)
    });
    await executeCommand(commands, { id: 'notebook:run-all-cells', args: {} });
  });

  it('says that a command is not there', async () => {
    await expect(
      executeCommand(commands, { id: 'settingeditor:open', args: {} })
    ).rejects.toThrow('JupyterLab cannot carry out settingeditor:open now');
  });
});
