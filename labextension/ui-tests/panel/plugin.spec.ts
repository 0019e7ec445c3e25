import { delimiter, join } from 'node:path';

import { examplePackage, expect, test } from '../support/fixtures';
import { LabPage } from '../support/lab';
import { LabServer } from '../support/server';
import { shootBoth } from '../support/screenshots';

test.use({ withModel: false });

test('the renderer of a package draws what its tool returned, also after a reload', async ({
  sharedContext
}) => {
  // A package is installed, and a server of its own started.
  test.setTimeout(240_000);
  // The package is the only provider of a model, too.
  const path = await examplePackage('examples/moon-phase');
  const [site] = path.split(delimiter);
  const server = await LabServer.start(null, {
    PYTHONPATH: path,
    JUPYTER_PATH: join(site, 'share', 'jupyter'),
    MOON_KEY: 'sk-moon-0123456789abcdef'
  });
  try {
    await server.cars('work');
    const lab = new LabPage(await sharedContext.newPage(), server, 'work');
    await lab.load('cars.ipynb');
    await lab.notebook('cars.ipynb').ready();
    await lab.panel.send('How is the moon?');
    await lab.panel.ended();
    const shown = lab.panel.root.getByTestId('da-mime-bundle');
    await expect(shown).toHaveText('🌕');
    await expect(lab.panel.root).toContainText('The tool said');
    await shootBoth(lab, 'plugin');

    await lab.page.reload();
    await expect(shown).toHaveText('🌕');
    await lab.page.close();
  } finally {
    await server.close();
  }
});
