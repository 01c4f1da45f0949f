// The page around the modes in a real browser: data sets, files to save and load, keys, windows, and what may go wrong.
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { artefacts, describePage, folder, isochron, middle, openBrowser, serve, View } from './harness.mjs';
import { changed, colorCount, readPng, share } from './png.mjs';

const source = { source: middle };
const quietSource = { ...source, quiet: true };

async function files() {
  await isochron('generate', 'ventricle', '--elements', '12000', '-o', 'heart.vtu');
  await isochron('generate', 'lens', '--n', '8', '-o', 'lens.vtu');
  writeFileSync(
    join(folder, 'lines.vtk'),
    '# vtk DataFile Version 3.0\nline\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 1 1 0\nLINES 1 4\n3 0 1 2\n',
  );
  return ['heart.vtu', 'lens.vtu', 'lines.vtk'];
}

describePage('the page', files, (page) => {
  page.test('of data sets chosen quickly the last one is shown', { quiet: true }, async (view) => {
    const about = () => view.page.locator('.panel .about').textContent();
    const heart = await about();
    let late;
    const answered = new Promise((resolve) => (late = resolve));
    await view.page.route('**/api/datasets/1/geometry', async (route) => {
      await view.page.waitForTimeout(700);
      await route.fulfill({ response: await route.fetch() });
      late();
    });
    for (const label of ['lens.vtu', 'heart.vtu', 'lens.vtu', 'heart.vtu'])
      await view.page.getByLabel('Data set').selectOption({ label });
    await view.ready();
    await answered;
    await view.page.waitForTimeout(300);
    assert.equal(await about(), heart, 'the lens came too late');
    await view.click(...middle);
    await view.arrival();
    assert.equal(await view.page.locator('.stage').count(), 1);
  });

  page.test('pictures, data and states are saved; a state brings everything back', quietSource, async (view) => {
    const latest = await view.status();
    const png = await view.download(() => view.page.getByRole('button', { name: 'Picture' }).click());
    assert.equal(png.name, 'heart.png');
    assert.ok(colorCount(readPng(readFileSync(png.path))) > 200, 'the saved picture is not blank');
    const csv = await view.download(() => view.page.getByLabel('Export').selectOption('a/csv'));
    const rows = readFileSync(csv.path, 'utf8').trim().split('\n').slice(1);
    const times = rows.map((row) => Number(row.split(',').at(-1)));
    assert.ok(Math.abs(Math.max(...times) - latest) < 1e-3 * latest, 'the export has the times that are shown');
    await view.drag([0.1, 0.5], [0.3, 0.6]);
    const shown = await view.picture();
    const { path } = await view.saved();
    await view.page.reload();
    await view.ready();
    assert.ok(Number.isNaN(await view.status()), 'a reload starts afresh');
    await view.page.getByLabel('State file').setInputFiles(path);
    await view.arrival('the same arrival', (now) => Math.abs(now - latest) < 1e-6 * latest);
    await view.shows((now) => changed(shown, now) < 0.002, 'the same picture');
    writeFileSync(join(folder, 'bad.json'), '{"what": 1}');
    await view.page.getByLabel('State file').setInputFiles(join(folder, 'bad.json'));
    await view.notice('state').getByText('no state of isochron view').waitFor();
  });

  page.test('keys do what the help says', {}, async (view) => {
    await view.page.locator('.stage').focus();
    await view.page.keyboard.press('?');
    await view.page.getByRole('dialog', { name: 'Help' }).waitFor();
    await view.page.screenshot({ path: join(artefacts, 'help.png') });
    await view.page.keyboard.press('Escape');
    assert.equal(await view.page.getByRole('dialog').count(), 0);
    await view.page.keyboard.press('Enter');
    const placed = await view.arrival('a source in the middle');
    await view.page.keyboard.press('ArrowUp');
    await view.arrival('the source to move', (now) => now !== placed);
    await view.page.keyboard.press('Delete');
    await view.page.locator('.stage-hint', { hasText: 'Click the surface' }).waitFor();
    const unnamed = await view.page
      .locator('button, input:not([hidden]), select')
      .evaluateAll(
        (all) => all.filter((e) => !e.getAttribute('aria-label') && !e.labels?.length && !e.textContent.trim()).length,
      );
    assert.equal(unnamed, 0, 'every control has a name');
  });

  test('two windows do not disturb each other', async () => {
    const [one, two] = await Promise.all([page.openWithSource([0.45, 0.75]), page.openWithSource([0.5, 0.35])]);
    const latest = await one.status();
    assert.notEqual(latest, await two.status());
    await two.drag([0.5, 0.35], [0.45, 0.6]);
    assert.equal(await one.status(), latest);
    await one.click(0.5, 0.5, 'Shift');
    await one.pathText();
    await Promise.all([one.close(), two.close()]);
  });

  test('the token leaves the address and is there after a reload', async () => {
    const view = await page.open();
    assert.equal(view.page.url(), new URL('/', page.url).href);
    await view.page.reload();
    await view.ready();
    assert.equal(view.page.url(), new URL('/', page.url).href);
    await view.close();
  });

  test('what cannot be solved is said, and what is wrong too', async () => {
    const view = await page.open();
    await view.page.getByLabel('Data set').selectOption({ label: 'lines.vtk' });
    await view.page.locator('.stage-hint', { hasText: 'cannot be computed' }).waitFor();
    await view.shows((now) => share(now, (r, g, b) => b > 150 && b > r + 80 && b > g + 40) > 0.0005, 'the lines');
    await view.close();
    const wrong = await View.open(
      page.browser,
      page.url.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    );
    await wrong.page.getByRole('heading', { name: 'Wrong token' }).waitFor();
    await wrong.close();
    const none = await View.open(page.browser, new URL(page.url).origin);
    await none.page.getByRole('heading', { name: 'No token' }).waitFor();
    await none.close();
  });

  test('a file that changed is offered anew, and a server that ends is missed', async () => {
    await isochron('generate', 'sphere', '--frequency', '8', '-o', 'ball.ply');
    const own = await serve('ball.ply');
    const view = await page.openAt(own.url);
    await view.click(0.5, 0.5);
    const latest = await view.arrival();
    await isochron('generate', 'sphere', '--frequency', '12', '-o', 'ball.ply', '--force');
    utimesSync(join(folder, 'ball.ply'), new Date(), new Date(Date.now() + 5000));
    await view.notice('changed').getByRole('button', { name: 'Reload' }).click();
    const again = await view.arrival('the new file', (now) => Number.isFinite(now) && now !== latest);
    assert.ok(Math.abs(again - latest) < 0.05 * latest, 'it is a sphere still, with the same source');
    renameSync(join(folder, 'ball.ply'), join(folder, 'aside.ply'));
    await view.notice('changed').getByText('ball.ply was deleted').waitFor();
    assert.equal(await view.notice('changed').getByRole('button', { name: 'Reload' }).count(), 0);
    renameSync(join(folder, 'aside.ply'), join(folder, 'ball.ply'));
    await view.notice('changed').waitFor({ state: 'detached' });
    await own.stop('SIGKILL');
    await view.notice('connection').getByText('Lost the connection').waitFor();
    await view.page.screenshot({ path: join(artefacts, 'lost.png') });
    await view.close();
  });

  test('a file that became another mesh is seen as a whole, and says which sources it has not', async () => {
    const place = join(folder, 'page.vtu');
    copyFileSync(join(folder, 'lens.vtu'), place);
    const own = await serve('page.vtu');
    const view = await page.openAt(own.url);
    await view.click(0.5, 0.5);
    await view.arrival();
    copyFileSync(join(folder, 'heart.vtu'), place);
    utimesSync(place, new Date(), new Date(Date.now() + 5000));
    await view.notice('changed').getByRole('button', { name: 'Reload' }).click();
    await view.notice('sources').getByText('Not on the mesh, and left out: Source 1').waitFor();
    await view.page.locator('.stage-hint', { hasText: 'Click the surface' }).waitFor();
    const fresh = await page.openAt(own.url);
    const [now, first] = [await view.saved(), await fresh.saved()];
    assert.deepEqual(now.state.sources, []);
    assert.deepEqual(now.state.camera, first.state.camera, 'the view is that of a page that was just opened');
    await fresh.close();
    await view.shows((shown) => colorCount(shown) > 50, 'a shaded surface', 'another');
    assert.equal(await view.notice('sources').count(), 1, 'the message stays');
    await view.click(...middle);
    await view.arrival('an arrival on the new mesh');
    await view.notice('sources').waitFor({ state: 'detached' });
    await view.close();
    await own.stop();
  });

  page.test('an error stays until what failed is mended', source, async (view) => {
    await view.enter(view.page.getByLabel('Spacing of isochrones'), '0.0001');
    await view.notice('error').getByText('too small').waitFor();
    const asked = view.page.waitForResponse('**/fibers?**');
    await view.page.getByLabel('Fibres').last().selectOption('fiber');
    await asked;
    await view.drawn();
    assert.equal(await view.notice('error').count(), 1, 'fibres are no answer to it');
    await view.enter(view.page.getByLabel('Spacing of isochrones'), '');
    await view.notice('error').waitFor({ state: 'detached' });
  });

  test('messages cover nothing, in a narrow window too', async () => {
    for (const width of [900, 480]) {
      const view = await page.open({ viewport: { width, height: 560 } });
      await view.page.getByLabel('State file').setInputFiles(join(folder, 'lines.vtk'));
      await view.notice('state').waitFor();
      await view.page.getByLabel('Data set').selectOption({ label: 'lines.vtk' });
      await view.page.locator('.stage-hint', { hasText: 'cannot be computed' }).waitFor();
      await view.click(0.5, 0.5);
      await view.notice('error').waitFor();
      await view.page.screenshot({ path: join(artefacts, `messages-${width}.png`) });
      const notices = await view.page.locator('.notices').boundingBox();
      for (const other of ['header', '.stage', '.stage-hint', '.panel']) {
        const box = await view.page.locator(other).boundingBox();
        const apart = box.y >= notices.y + notices.height || notices.y >= box.y + box.height;
        assert.ok(apart, `${other} at ${width}: ${JSON.stringify([notices, box])}`);
      }
      assert.ok(notices.width > 0.9 * width, 'words have room');
      const buttons = await view.page
        .locator('header > button, header > select, header > h1')
        .evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON()));
      for (const [i, a] of buttons.entries())
        for (const b of buttons.slice(i + 1))
          assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, `header at ${width}`);
      assert.ok(Math.max(...buttons.map(({ right }) => right)) <= width, `header at ${width}`);
      await view.close();
    }
  });

  page.test('a number that cannot be is answered with words', {}, async (view) => {
    const field = view.page.getByLabel('Along', { exact: true });
    await view.enter(field, '0');
    await view.page.getByRole('alert').getByText('above 0').waitFor();
    await view.enter(field, '0.7');
    await view.page.getByRole('alert').waitFor({ state: 'detached' });
    assert.equal(await field.getAttribute('aria-invalid'), 'false');
  });

  page.test('the help begins at its beginning', { viewport: { width: 900, height: 360 } }, async (view) => {
    await view.page.getByRole('button', { name: '?' }).click();
    const help = view.page.getByRole('dialog', { name: 'Help' });
    await help.waitFor();
    assert.equal(await help.evaluate((dialog) => dialog.scrollTop), 0);
    assert.ok(await help.evaluate((dialog) => dialog.scrollHeight > dialog.clientHeight), 'it does not fit');
  });

  test('what became of one file is not hidden by what becomes of another', async () => {
    for (const name of ['one.ply', 'two.ply']) await isochron('generate', 'sphere', '--frequency', '4', '-o', name);
    const own = await serve('one.ply', 'two.ply');
    const view = await page.openAt(own.url);
    const [one, aside] = ['one.ply', 'aside.ply'].map((name) => join(folder, name));
    renameSync(one, aside);
    await view.notice('changed').getByText('one.ply was deleted').waitFor();
    const told = await view.toldFromNow();
    const touched = async (seconds) => {
      const before = (await told()).length;
      utimesSync(join(folder, 'two.ply'), new Date(), new Date(Date.now() + 1000 * seconds));
      await view.until(told, ({ length }) => length > before, 'the change to be told');
    };
    await touched(5);
    await view.notice('changed').getByText('one.ply was deleted').waitFor(); // it is the one that is shown
    await view.page.getByLabel('Data set').selectOption({ label: 'two.ply' });
    await view.notice('changed').getByText('two.ply has changed').waitFor();
    await view.notice('changed').getByRole('button', { name: 'Reload' }).click();
    await view.notice('changed').getByText('one.ply was deleted').waitFor();
    await view.page.reload();
    await view.ready();
    await view.notice('changed').getByText('one.ply was deleted').waitFor(); // before the page was opened
    renameSync(aside, one);
    await view.notice('changed').waitFor({ state: 'detached' });
    await view.close();
    await own.stop();
  });

  test('a browser without WebGL is told so', async () => {
    const plain = await openBrowser(['--disable-gpu', '--disable-3d-apis']);
    const view = await View.open(plain, page.url);
    await view.page.getByRole('heading', { name: 'No WebGL' }).waitFor();
    await plain.close();
  });
});
