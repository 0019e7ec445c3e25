import { FixInfo, ModelsReply } from '../api/types';
import { IFailure } from '../notebook/kernel/failure';
import { fenced } from '../proposals';

/** What an error of this name means, for one who has not met it. */
const MEANINGS: Readonly<Record<string, string>> = {
  AssertionError: 'A condition that the code asserts does not hold.',
  AttributeError:
    'The object has no attribute or method of this name. It may be of another type than expected, or the name is misspelt.',
  FileNotFoundError:
    "There is no file at this path. Relative paths start in the notebook's folder.",
  ImportError:
    'The module exists, but what is imported from it does not: it may be misspelt, or from another version.',
  IndentationError:
    'The lines of a block do not begin in the same column, or a block is missing.',
  IndexError: 'The position is outside the sequence, which is shorter.',
  JSONDecodeError: 'The text is not valid JSON.',
  KeyError: 'There is no entry or column of this name. Case and spaces matter.',
  MemoryError: 'The kernel ran out of memory.',
  ModuleNotFoundError:
    "The kernel's environment has no module of this name: it is not installed there, or misspelt.",
  NameError:
    'Nothing defines this name in the kernel: its cell has not been run since the kernel started, it is misspelt, or an import is missing.',
  PermissionError: 'The kernel may not read or write this file.',
  RecursionError: 'A function calls itself without end.',
  SyntaxError: 'Python cannot parse the code, so nothing in the cell ran.',
  TabError: 'Tabs and spaces are mixed in the indentation.',
  TimeoutError: 'The other side did not answer in time.',
  TypeError:
    'An operation or a function was given a value of a type that it does not take, or too many or too few arguments.',
  UnboundLocalError:
    'A function uses a variable of its own before it has a value.',
  UnicodeDecodeError:
    'The file is in another encoding than the one it is read in.',
  ValueError: 'The value has the right type but is not valid here.',
  ZeroDivisionError: 'Something was divided by zero.'
};

/** What is known of an error without a model, as Markdown. */
export function knownOf(
  failure: IFailure,
  fixes: readonly FixInfo[],
  models: ModelsReply
): string {
  const { name, message } = failure;
  const source = `${name}: ${message}`.slice(0, 500);
  const parts = [fenced({ language: 'text', source })];
  if (Object.prototype.hasOwnProperty.call(MEANINGS, name)) {
    parts.push(MEANINGS[name]);
  }
  if (fixes.length) {
    const lines = fixes.map(
      ({ title, explanation }) => `- **${plain(title)}**: ${plain(explanation)}`
    );
    parts.push(`Possible fixes:\n\n${lines.join('\n')}`);
  }
  parts.push(howToConnect(models));
  return parts.join('\n\n');
}

/** That there is no model, and the ways to connect one. */
export function howToConnect({ message, connections }: ModelsReply): string {
  const ways = connections.map(
    ({ title, steps }) => `- **${title}**: ${steps}`
  );
  return [
    `A model could tell you more. ${message ?? 'None is connected.'}`,
    ...(ways.length ? [ways.join('\n')] : [])
  ].join('\n\n');
}

/** Names of files and columns as they are, not as Markdown. */
function plain(text: string): string {
  return text
    .replace(/[\\`*_{}[\]<>|~$]/g, '\\$&')
    .replace(/(?<!\s)\s*\n\s*/g, ' ');
}
