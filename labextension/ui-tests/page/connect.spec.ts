import { seriousFaults } from '../support/axe';
import { expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { PythonProcess } from '../support/process';
import { LabServer } from '../support/server';
import { shootBoth } from '../support/screenshots';

// Each test connects what the next one must not find.
test.use({ withModel: false, keepsTab: false });

const KEY = 'sk-typed-in-the-panel-0123456789';

/** All that the page keeps or shows. */
async function everythingIn(lab: LabPage): Promise<string> {
  return lab.page.evaluate(async () => {
    const values = [...document.querySelectorAll('input, textarea')].map(
      field => (field as HTMLInputElement).value
    );
    const databases = await indexedDB.databases();
    return [
      document.documentElement.outerHTML,
      ...values,
      JSON.stringify({ ...localStorage }),
      JSON.stringify({ ...sessionStorage }),
      document.cookie,
      JSON.stringify(databases)
    ].join('\n');
  });
}

test('a key that is typed in the panel is tried, kept, and answers the first message', async ({
  sharedContext,
  model
}) => {
  const ollama = new PythonProcess('tests.support.local_servers', 'ollama');
  const port = await ollama.line();
  const server = await LabServer.start(null, {
    OPENAI_BASE_URL: model.apiBase,
    DATALAYER_AGENT_LOCAL_MODEL_PORTS: `[${port}]`
  });
  try {
    await server.cars('work');
    const lab = new LabPage(await sharedContext.newPage(), server, 'work');
    await lab.load('cars.ipynb');
    const { root } = lab.panel;
    await expect(root).toContainText('No model is connected yet');
    await expect(root.getByTestId('da-connect-model')).toHaveText(
      'qwen3:8b8.2B · 5.2 GB · 41k tokensUse'
    );
    await shootBoth(lab, 'connect-start', 'window');
    await lab.panelWidth(300);
    await shootBoth(lab, 'connect-start-300');

    await root.getByTestId('da-connect-open').first().click();
    const card = root.getByTestId('da-connect');
    await card.getByTestId('da-connect-provider').selectOption('openai');
    const key = card.getByTestId('da-connect-key');
    await expect(key).toHaveAttribute('type', 'password');
    await expect(key).toHaveValue('');
    await shootBoth(lab, 'connect-card-300');

    // A key that is refused, by a provider that repeats it.
    await model.script({
      status: 401,
      body: { error: { message: `Incorrect API key provided: ${KEY}` } }
    });
    await key.fill(KEY);
    await card.getByTestId('da-connect-test').click();
    const result = card.getByTestId('da-connect-result');
    await expect(result).toContainText('refused the key');
    await expect(result).not.toContainText(KEY);
    await shootBoth(lab, 'connect-refused-300');

    const use = card.getByTestId('da-connect-use');
    await expect(use).toBeDisabled();
    await card.getByTestId('da-connect-place').selectOption('file');
    await model.script({ say: 'ready' });
    await use.click();
    await expect(card.getByTestId('da-connect-done')).toContainText(
      'GPT-6.1 Sol is connected'
    );
    await expect(key).toHaveValue('');
    expect(await everythingIn(lab)).not.toContain(KEY);
    await shootBoth(lab, 'connect-done-300');

    await model.script({ say: 'There are 406 cars.' });
    await lab.panel.ask('How many cars are there?');
    await expect(lab.panel.answers.last()).toContainText('There are 406 cars.');
    await shootBoth(lab, 'connect-first-answer');
    expect(await everythingIn(lab)).not.toContain(KEY);

    await expect(card).toHaveCount(0);
    await root.getByTestId('da-model-select').click();
    await root.getByTestId('da-connect-open').click();
    await root.getByTestId('da-connect-forget').click();
    await expect(root.getByTestId('da-connect-forget')).toHaveCount(0);
    await expect(root.getByTestId('da-model-select')).toContainText('No model');
    await lab.page.close();
  } finally {
    await server.close();
    await ollama.close();
  }
});

test('a model of this computer is used by one click, in all pages', async ({
  sharedContext,
  model
}) => {
  const ollama = new PythonProcess('tests.support.local_servers', 'ollama');
  const port = await ollama.line();
  const server = await LabServer.start(null, {
    DATALAYER_AGENT_LOCAL_MODEL_PORTS: `[${port}]`
  });
  try {
    await server.cars('work');
    const lab = new LabPage(await sharedContext.newPage(), server, 'work');
    const other = new LabPage(await sharedContext.newPage(), server, 'work');
    await lab.load('cars.ipynb');
    await other.load('cars.ipynb');
    const { root } = lab.panel;
    await expect(other.panel.root).toContainText('No model is connected yet');
    await root.getByTestId('da-connect-model').press('Enter');
    for (const { panel } of [lab, other]) {
      await expect(panel.root.getByTestId('da-model-select')).toContainText(
        'qwen3:8b'
      );
      await expect(panel.root).not.toContainText('No model is connected yet');
    }
    await other.panel.ask('Hello');
    await expect(other.panel.answers.last()).toContainText('Ready.');

    // The card by its command, and an address that is none.
    await lab.panelWidth(300);
    await lab.panel.send('/connect');
    const card = root.getByTestId('da-connect');
    await expect(card.getByTestId('da-connect-connection')).toContainText(
      'Ollama · default'
    );
    await card.getByText('Another server, by its address').click();
    const address = card.getByTestId('da-connect-address');
    await expect(address).toBeFocused();
    const result = card.getByTestId('da-connect-result');
    await address.fill('https://me:secret@host/v1');
    await address.press('Enter');
    await expect(result).toContainText('user name or password');
    await address.fill(`${model.apiBase.replace(/:\d+/, ':1')}`);
    await address.press('Enter');
    await expect(result).toContainText('Nothing listens');
    await shootBoth(lab, 'connect-address-refused');
    await address.fill(model.apiBase);
    await address.press('Enter');
    await expect(result).toContainText('1 model');
    await model.script({ say: 'ready' }, { say: 'From the other server.' });
    const offered = card
      .getByTestId('da-connect-address-form')
      .getByTestId('da-connect-model');
    await expect(offered).toBeInViewport({ ratio: 1 });
    await shootBoth(lab, 'connect-address-found-300');
    await offered.click();
    const done = card.getByTestId('da-connect-done');
    await expect(done).toContainText('scripted is connected');
    await expect(done).toBeInViewport({ ratio: 1 });
    await expect(card.getByTestId('da-connect-connection')).toHaveCount(2);
    const faults = await seriousFaults(lab.page, '[data-testid="da-connect"]');
    expect(faults).toEqual([]);
    await shootBoth(lab, 'connect-two');
    await card.getByRole('button', { name: 'Close: Connect a Model' }).click();
    await lab.panel.ask('Hello');
    await expect(lab.panel.answers.last()).toContainText(
      'From the other server.'
    );
    await other.page.close();
    await lab.page.close();
  } finally {
    await server.close();
    await ollama.close();
  }
});

test("Azure's form, and headers for a gateway, by keyboard in a narrow sidebar", async ({
  sharedContext,
  model
}) => {
  const server = await LabServer.start(null, {
    DATALAYER_AGENT_LOCAL_MODEL_PORTS: '[]'
  });
  try {
    await server.cars('work');
    const lab = new LabPage(await sharedContext.newPage(), server, 'work');
    await lab.load('cars.ipynb');
    await lab.panelWidth(300);
    const { root } = lab.panel;
    await root.getByTestId('da-connect-open').first().click();
    const card = root.getByTestId('da-connect');
    const at = (name: string) => card.getByTestId(`da-connect-${name}`);
    await at('provider').selectOption('azure');
    const deployment = at('provider-model');
    await deployment.fill('my-deployment');
    // From field to field by keyboard, in the order that they are read.
    const { keyboard } = lab.page;
    await keyboard.press('Tab');
    await expect(at('field-api_base')).toBeFocused();
    await keyboard.type(model.apiBase.replace('/v1', ''));
    await keyboard.press('Tab');
    await expect(at('field-api_version')).toBeFocused();
    await keyboard.press('Tab');
    await expect(at('sign-in')).toBeFocused();
    await keyboard.press('Tab');
    await expect(at('field-api_key')).toBeFocused();
    await keyboard.type(KEY);
    await keyboard.press('Tab');
    await expect(at('place')).toBeFocused();
    await expect(at('use')).toBeDisabled();
    await at('place').selectOption('memory');
    await expect(at('place-hint')).toContainText('After a restart');
    await shootBoth(lab, 'connect-azure-300');
    await model.script({ say: 'ready' });
    await at('use').click();
    await expect(at('done')).toContainText('my-deployment is connected');
    await expect(at('field-api_key')).toHaveValue('');
    expect(await everythingIn(lab)).not.toContain(KEY);
    await expect(at('connection')).toContainText('key until the server stops');

    await at('provider').selectOption('bedrock');
    await at('sign-in').selectOption('keys');
    await expect(at('field-aws_session_token')).toBeVisible();
    await shootBoth(lab, 'connect-bedrock-300');
    expect(await seriousFaults(lab.page, '[data-testid="da-connect"]')).toEqual(
      []
    );

    await card.getByText('Another server, by its address').click();
    await at('address').fill(model.apiBase);
    await card.getByText('Headers and client certificate').click();
    await at('header-add').press('Enter');
    await expect(at('header-name')).toBeFocused();
    await keyboard.type('X-Team');
    await keyboard.press('Tab');
    await expect(at('header-value')).toBeFocused();
    await expect(at('header-value')).toHaveAttribute('type', 'password');
    await keyboard.type(KEY);
    const places = at('address-form').getByTestId('da-connect-place');
    await places.selectOption('file');
    await shootBoth(lab, 'connect-headers-300');
    expect(await seriousFaults(lab.page, '[data-testid="da-connect"]')).toEqual(
      []
    );
    await at('address').press('Enter');
    const offered = at('address-form').getByTestId('da-connect-model');
    await model.script({ say: 'ready' }, { say: 'From the gateway.' });
    await offered.click();
    await expect(at('done')).toContainText('scripted is connected');
    expect(await everythingIn(lab)).not.toContain(KEY);
    await card.getByRole('button', { name: 'Close: Connect a Model' }).click();
    await lab.panel.ask('Hello');
    await expect(lab.panel.answers.last()).toContainText('From the gateway.');
    const requests = await model.requests();
    expect(requests.at(-1)?.headers['x-team']).toBe(KEY);
    await lab.page.close();
  } finally {
    await server.close();
  }
});

test('where an administrator does not allow it, nothing is offered and nobody is asked', async ({
  sharedContext
}) => {
  const server = await LabServer.start(null, {
    DATALAYER_AGENT_CONNECT_MODELS: 'false'
  });
  try {
    await server.cars('work');
    const lab = new LabPage(await sharedContext.newPage(), server, 'work');
    await lab.load('cars.ipynb');
    const { root } = lab.panel;
    await expect(root).toContainText('No model is connected yet');
    await expect(root.getByTestId('da-connect-open')).toHaveCount(0);
    await expect(root.getByTestId('da-connect-look')).toHaveCount(0);
    await lab.page.evaluate(() =>
      window.jupyterapp.commands.execute('datalayer-agent:connect-model')
    );
    await expect(root.getByTestId('da-connect-locked')).toContainText(
      'switched off'
    );
    await shootBoth(lab, 'connect-locked');
    await lab.page.close();
  } finally {
    await server.close();
  }
});
