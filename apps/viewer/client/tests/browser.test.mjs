// The viewer in a real browser, on data that isochron generates.
import assert from 'node:assert/strict';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { load } from './bundle.mjs';
import { artefacts, folder, isochron, openBrowser, serve, stopServers, View, whyNot } from './harness.mjs';
import { changed, colorCount, readPng, share } from './png.mjs';

const why = whyNot();
const dark = (r, g, b) => r < 60 && g < 60 && b < 60;
const ahead = (r, g, b) => Math.abs(r - g) < 12 && Math.abs(g - b) < 14 && r > 80 && r < 235;
const middle = [0.5, 0.55];

describe('isochron view', { skip: why }, () => {
  let browser;
  let server;

  before(async () => {
    await isochron('generate', 'ventricle', '--elements', '12000', '-o', 'heart.vtu');
    await isochron('generate', 'lens', '--n', '8', '-o', 'lens.vtu');
    writeFileSync(
      join(folder, 'lines.vtk'),
      '# vtk DataFile Version 3.0\nline\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 1 1 0\nLINES 1 4\n3 0 1 2\n',
    );
    server = await serve('heart.vtu', 'lens.vtu', 'lines.vtk');
    browser = await openBrowser();
  });

  after(async () => {
    await browser?.close();
    await server?.stop();
    stopServers();
  });

  const open = async (options) => (await View.open(browser, server.url, options)).ready();
  const openWithSource = async (at = middle) => {
    const view = await open();
    await view.click(...at);
    await view.until(() => view.status(), Number.isFinite, 'an arrival');
    return view;
  };
  const saved = async (view) => {
    const file = await view.download(() => view.page.getByRole('button', { name: 'Save state' }).click());
    return { ...file, state: JSON.parse(readFileSync(file.path, 'utf8')) };
  };

  test('opens, asks nobody else, and says what to do', async () => {
    const view = await open();
    await view.page.locator('.stage-hint', { hasText: 'Click the surface' }).waitFor();
    assert.match(await view.page.locator('.panel .about').textContent(), /^[\d,]+ vertices, [\d,]+ tetrahedra$/);
    const picture = await view.picture('open');
    assert.ok(colorCount(picture) > 50, 'the surface is shaded');
    const origin = new URL(server.url).origin;
    assert.deepEqual(
      view.requests.filter((url) => !url.startsWith(origin) && !url.startsWith('blob:')),
      [],
    );
    assert.deepEqual(view.complaints, []);
    await view.close();
  });

  test('a click starts a front, with the times that isochron solve gives', async () => {
    const view = await openWithSource();
    const plain = share(await view.picture('pick'), ahead);
    assert.ok(plain < 0.1, 'the surface has colours');
    const { state } = await saved(view);
    assert.equal(state.sources.length, 1);
    const summary = JSON.parse(
      await isochron(
        'solve',
        'heart.vtu',
        '-o',
        'check.vtu',
        '--force',
        '--json',
        '--fibers',
        'fiber',
        '--velocity',
        '0.6,0.3',
        '--source-point',
        state.sources[0].point.join(','),
      ),
    );
    const latest = await view.status();
    assert.ok(Math.abs(latest - summary.max_time) < 1e-3 * latest, `${latest} against ${summary.max_time}`);
    assert.ok((await view.page.locator('.status').textContent()).includes(' ms '));
    assert.ok(share(await view.picture(), dark) > 0.005, 'isochrones are drawn');
    await view.page.keyboard.press('i');
    assert.ok(share(await view.picture(), dark) < 0.005, 'isochrones are hidden');
    assert.deepEqual(view.complaints, []);
    await view.close();
  });

  test('a source is dragged, and isochrones move', async () => {
    const view = await openWithSource();
    const [before, latest] = [await view.picture(), await view.status()];
    const camera = (await saved(view)).state.camera;
    await view.drag(middle, [0.42, 0.4]);
    await view.until(
      () => view.status(),
      (now) => now !== latest,
      'another arrival',
    );
    assert.ok(changed(before, await view.picture('drag')) > 0.03, 'the picture has changed');
    const { state } = await saved(view);
    assert.deepEqual(state.camera, camera, 'a drag of a source does not turn the view');
    await view.drag([0.1, 0.5], [0.2, 0.5]);
    assert.notDeepEqual((await saved(view)).state.camera, camera, 'a drag beside turns it');
    await view.close();
  });

  test('the slider of moments shows the front without asking the server', async () => {
    const view = await openWithSource();
    const all = share(await view.picture(), ahead);
    const asked = view.requests.length;
    await view.page.getByLabel('Moment of the front').fill(((await view.status()) / 4).toFixed(1));
    const early = share(await view.picture('front'), ahead);
    assert.ok(early > all + 0.05, `more is ahead of the front: ${all}, then ${early}`);
    await view.page.keyboard.press('Escape');
    await view.until(
      () => view.picture(),
      (now) => share(now, ahead) < all + 0.01,
      'all times',
    );
    await view.page.getByRole('button', { name: 'Let the front run' }).click();
    const readout = view.page.locator('.moment');
    const one = await readout.textContent();
    await view.until(
      () => readout.textContent(),
      (now) => now !== one,
      'the front to run',
    );
    assert.equal(view.requests.length, asked);
    await view.close();
  });

  test('several sources with onset times, deleted again', async () => {
    const view = await openWithSource([0.45, 0.7]);
    const one = await view.status();
    await view.click(0.5, 0.35, 'Control');
    const two = await view.until(
      () => view.status(),
      (now) => now !== one,
      'two sources',
    );
    assert.ok(two < one, 'a second source can only be earlier');
    await view.page.getByLabel('Onset time of Source 2').fill('1000');
    await view.page.keyboard.press('Enter');
    await view.until(
      () => view.status(),
      (now) => now > two + 1e-3,
      'the late source not to matter',
    );
    await view.page.getByRole('button', { name: 'Delete Source 2' }).click();
    await view.until(
      () => view.status(),
      (now) => Math.abs(now - one) < 1e-6 * one,
      'the first arrival',
    );
    await view.close();
  });

  test('a point has a path and a time', async () => {
    const view = await openWithSource();
    const before = await view.picture();
    await view.click(0.45, 0.3, 'Shift');
    const item = view.page.locator('.item.path');
    const text = await view.until(
      () => item.textContent(),
      (now) => /time/.test(now),
      'a path',
    );
    const [, time, length] = /time ([\d.]+), length ([\d.]+)/.exec(text).map(Number);
    assert.ok(time > 0 && time <= (await view.status()));
    assert.ok(length / 0.6 <= time * 1.02 && length / 0.3 >= time * 0.98, `${length} in ${time} at 0.3 to 0.6`);
    assert.ok(changed(before, await view.picture('path')) > 0.0005, 'the path is drawn');
    await view.close();
  });

  test('volumes are cut open, fibres shown', async () => {
    const view = await openWithSource();
    const whole = await view.picture();
    await view.page.getByLabel('Clip', { exact: true }).check();
    const cut = await view.until(
      () => view.picture('clip'),
      (now) => changed(whole, now) > 0.03,
      'the cut',
    );
    await view.page.getByLabel('Place of the clip plane').fill('0.7');
    await view.until(
      () => view.picture(),
      (now) => changed(cut, now) > 0.01,
      'another cut',
    );
    await view.page.getByLabel('Clip', { exact: true }).uncheck();
    await view.until(
      () => view.picture(),
      (now) => changed(whole, now) < 0.002,
      'the whole again',
    );
    await view.page.locator('details', { hasText: 'Display' }).getByLabel('Fibres').selectOption('fiber');
    await view.until(
      () => view.picture('fibers'),
      (now) => changed(whole, now) > 0.01,
      'fibres',
    );
    assert.deepEqual(view.complaints, []);
    await view.close();
  });

  test('two settings side by side, and their difference', async () => {
    const view = await openWithSource();
    await view.page.getByLabel('Compare').selectOption('difference');
    await view.page.getByText('B − A', { exact: true }).waitFor();
    assert.equal(await view.page.locator('.overlay .pane').count(), 3);
    const legend = view.page.locator('.legend').nth(2);
    await legend.waitFor();
    const same = await view.picture();
    await view.page.getByRole('group', { name: 'Setting B' }).getByLabel('Across', { exact: true }).fill('0.6');
    await view.page.keyboard.press('Enter');
    await view.until(
      () => view.picture('compare'),
      (now) => changed(same, now) > 0.05,
      'the panes to differ',
    );
    await view.page.getByLabel('Compare').selectOption('off');
    assert.equal(await view.page.locator('.overlay .pane').count(), 1);
    await view.close();
  });

  test('regions have speeds of their own', async () => {
    const view = await open();
    await view.page.getByLabel('Data set').selectOption({ label: 'lens.vtu' });
    await view.page.getByLabel('Each region its own').waitFor();
    await view.click(0.5, 0.5);
    const slow = await view.until(() => view.status(), Number.isFinite, 'an arrival');
    await view.page.getByLabel('Each region its own').check();
    await view.page.getByLabel('Region 0', { exact: true }).fill('2');
    await view.page.keyboard.press('Enter');
    await view.until(
      () => view.status(),
      (now) => now < 0.8 * slow,
      'a faster region',
    );
    await view.page.getByLabel('Colour by').selectOption('cells/region');
    await view.page.locator('.legend', { hasText: 'region' }).waitFor();
    await view.picture('regions');
    assert.deepEqual(view.complaints, []);
    await view.close();
  });

  test('of data sets chosen quickly the last one is shown', async () => {
    const view = await open();
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
    await view.until(() => view.status(), Number.isFinite, 'an arrival');
    assert.equal(await view.page.locator('.stage').count(), 1);
    assert.deepEqual(view.complaints, []);
    await view.close();
  });

  test('pictures, data and states are saved; a state brings everything back', async () => {
    const view = await openWithSource();
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
    const { path } = await saved(view);
    await view.page.reload();
    await view.ready();
    assert.ok(Number.isNaN(await view.status()), 'a reload starts afresh');
    await view.page.getByLabel('State file').setInputFiles(path);
    await view.until(
      () => view.status(),
      (now) => Math.abs(now - latest) < 1e-6 * latest,
      'the same arrival',
    );
    assert.ok(changed(shown, await view.picture()) < 0.002, 'the same picture');
    writeFileSync(join(folder, 'bad.json'), '{"what": 1}');
    await view.page.getByLabel('State file').setInputFiles(join(folder, 'bad.json'));
    await view.notice('state').getByText('no state of isochron view').waitFor();
    assert.deepEqual(view.complaints, []);
    await view.close();
  });

  test('keys do what the help says', async () => {
    const view = await open();
    await view.page.locator('.stage').focus();
    await view.page.keyboard.press('?');
    await view.page.getByRole('dialog', { name: 'Help' }).waitFor();
    await view.page.screenshot({ path: join(artefacts, 'help.png') });
    await view.page.keyboard.press('Escape');
    assert.equal(await view.page.getByRole('dialog').count(), 0);
    await view.page.keyboard.press('Enter');
    const placed = await view.until(() => view.status(), Number.isFinite, 'a source in the middle');
    await view.page.keyboard.press('ArrowUp');
    await view.until(
      () => view.status(),
      (now) => now !== placed,
      'the source to move',
    );
    await view.page.keyboard.press('Delete');
    await view.page.locator('.stage-hint', { hasText: 'Click the surface' }).waitFor();
    const unnamed = await view.page
      .locator('button, input:not([hidden]), select')
      .evaluateAll(
        (all) => all.filter((e) => !e.getAttribute('aria-label') && !e.labels?.length && !e.textContent.trim()).length,
      );
    assert.equal(unnamed, 0, 'every control has a name');
    await view.close();
  });

  test('two windows do not disturb each other', async () => {
    const [one, two] = await Promise.all([openWithSource([0.45, 0.75]), openWithSource([0.5, 0.35])]);
    const latest = await one.status();
    assert.notEqual(latest, await two.status());
    await two.drag([0.5, 0.35], [0.45, 0.6]);
    assert.equal(await one.status(), latest);
    await one.click(0.5, 0.5, 'Shift');
    await one.until(
      () => one.page.locator('.item.path').textContent(),
      (now) => /time/.test(now),
      'a path',
    );
    await Promise.all([one.close(), two.close()]);
  });

  test('a lost WebGL context comes back', async () => {
    const view = await openWithSource();
    const before = await view.picture();
    await view.page
      .locator('.stage canvas')
      .evaluate((canvas) => canvas.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext());
    await view.notice('webgl').waitFor();
    await view.notice('webgl').waitFor({ state: 'detached' });
    assert.ok(changed(before, await view.picture()) < 0.002, 'the same picture');
    await view.drag(middle, [0.45, 0.45]);
    await view.until(
      () => view.picture(),
      (now) => changed(before, now) > 0.02,
      'the source to move',
    );
    await view.close();
  });

  test('what cannot be solved is said, and what is wrong too', async () => {
    const view = await open();
    await view.page.getByLabel('Data set').selectOption({ label: 'lines.vtk' });
    await view.page.locator('.stage-hint', { hasText: 'cannot be computed' }).waitFor();
    await view.until(
      () => view.picture(),
      (now) => share(now, (r, g, b) => b > 150 && b > r + 80 && b > g + 40) > 0.0005,
      'the lines',
    );
    await view.close();
    const wrong = await View.open(
      browser,
      server.url.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    );
    await wrong.page.getByRole('heading', { name: 'Wrong token' }).waitFor();
    await wrong.close();
    const none = await View.open(browser, new URL(server.url).origin);
    await none.page.getByRole('heading', { name: 'No token' }).waitFor();
    await none.close();
  });

  test('a file that changed is offered anew, and a server that ends is missed', async () => {
    await isochron('generate', 'sphere', '--frequency', '8', '-o', 'ball.ply');
    const own = await serve('ball.ply');
    const view = await (await View.open(browser, own.url)).ready();
    await view.click(0.5, 0.5);
    const latest = await view.until(() => view.status(), Number.isFinite, 'an arrival');
    await isochron('generate', 'sphere', '--frequency', '12', '-o', 'ball.ply', '--force');
    utimesSync(join(folder, 'ball.ply'), new Date(), new Date(Date.now() + 5000));
    await view.notice('changed').getByRole('button', { name: 'Reload' }).click();
    const again = await view.until(
      () => view.status(),
      (now) => Number.isFinite(now) && now !== latest,
      'the new file',
    );
    assert.ok(Math.abs(again - latest) < 0.05 * latest, 'it is a sphere still, with the same source');
    await own.stop('SIGKILL');
    await view.notice('connection').getByText('Lost the connection').waitFor();
    await view.page.screenshot({ path: join(artefacts, 'lost.png') });
    await view.close();
  });

  test('two regions on slices of a tensor image have a pathway', async () => {
    await isochron('generate', 'crossing-fibers', '--n', '32,32,12', '--spacing', '4', '-o', 'crossing.nii.gz');
    const own = await serve('crossing.nii.gz');
    const view = await View.open(browser, own.url);
    const { page } = view;
    const axial = page.locator('.slice').first();
    await axial.waitFor();
    const box = await axial.boundingBox();
    // The slice shows 128 mm by 128 mm from -2, -2 in the middle of its canvas.
    const scale = (Math.min(box.width, box.height) - 8) / 128;
    const click = (x, y) =>
      axial.click({ position: { x: box.width / 2 + (x - 62) * scale, y: box.height / 2 - (y - 62) * scale } });
    const cost = async () => Number((await page.locator('.status').getAttribute('data-cost')) ?? NaN);
    await page.keyboard.press('2');
    await click(20, 36);
    await page.keyboard.press('3');
    await click(104, 84);
    const first = await view.until(cost, Number.isFinite, 'a pathway');
    assert.match(await page.locator('.numbers').textContent(), /mm, mean FA 0\.\d+; pathway of \d+ voxels/);
    const before = await page.locator('.slice').first().screenshot();
    await view.picture('tensors');
    await click(100, 80);
    await view.until(cost, (now) => now !== first, 'another cost');
    assert.ok(
      changed(readPng(before), readPng(await page.locator('.slice').first().screenshot())) > 0.001,
      'the slice follows',
    );
    const asked = (what) => view.requests.filter((url) => url.endsWith(`/${what}`)).length;
    const connects = asked('connect');
    await page.getByLabel('Tensor glyphs').check();
    await view.until(() => asked('glyphs'), (times) => times > 0, 'glyphs');
    await page.getByLabel('Paths').uncheck();
    await page.getByLabel('Paths').check();
    assert.equal(asked('connect'), connects, 'what is shown is not computed again');
    const space = await view.picture();
    await page.getByLabel('Volume').selectOption('fa');
    await view.until(
      () => view.picture(),
      (now) => changed(space, now) > 0.01,
      'FA as a volume',
    );
    await page.getByLabel('Volume').selectOption('cost');
    await view.until(() => view.requests.some((url) => url.includes('/volume/cost')), Boolean, 'the cost');
    await page.getByLabel('Volume').selectOption('');
    const { path } = await saved(view);
    const csv = await view.download(() => page.getByLabel('Export').selectOption('csv/Pathway 1'));
    assert.match(readFileSync(csv.path, 'utf8'), /^x,y,z,distance,cost,fa,md,local_cost\n[^,]+,[^,]+,[^,]+,0,/);
    assert.ok(csv.name.endsWith('-profile.csv'), csv.name);
    const tck = await view.download(() => page.getByLabel('Export').selectOption('tck/Pathway 1'));
    assert.match(readFileSync(tck.path).toString('latin1', 0, 40), /^mrtrix tracks/);
    await page.getByRole('button', { name: 'Delete Pathway 1' }).click();
    await view.until(() => asked('remove'), (times) => times > 0, 'the server to be told');
    await page.reload();
    await page.locator('.slice').first().waitFor();
    const moved = await page.locator('.status').getAttribute('data-cost');
    assert.equal(moved, null);
    await page.getByLabel('State file').setInputFiles(path);
    await view.until(cost, Number.isFinite, 'the pathway of the state');
    assert.deepEqual(view.complaints, []);
    await view.close();
    await own.stop();
  });

  /** A volume that takes a while, so that there is something to see. */
  const openPhantom = async () => {
    await isochron('generate', 'phantom', '--n', '48', '-o', 'phantom.nii.gz', '--force');
    await isochron('generate', 'phantom', '--n', '24,24,1', '-o', 'flat.nii.gz', '--force');
    const own = await serve('phantom_density.nii.gz', 'flat.nii.gz');
    const view = await (await View.open(browser, own.url)).ready();
    await view.page.locator('.stage-hint', { hasText: 'Choose the isovalue' }).waitFor();
    return { own, view, page: view.page };
  };
  /** How many points are in a ball. */
  const within = (points, center, radius) => {
    let count = 0;
    for (let i = 0; i < points.length; i += 3)
      if (Math.hypot(...center.map((c, k) => points[i + k] - c)) < radius) ++count;
    return count;
  };
  const made = (view, what = 'a mesh') => view.until(() => view.status('triangles'), Number.isFinite, what);

  test('an isovalue, particles that settle, a mesh, and more particles under the brush', async () => {
    const { own, view, page } = await openPhantom();
    const { Pack } = await load('src/pack.ts');
    const meshes = [];
    page.on('response', (answer) => {
      if (!answer.url().endsWith('/surface')) return;
      meshes.push(answer.body().then((b) => Pack.decode(new Uint8Array(b).buffer).floats('points')));
    });
    const histogram = page.getByRole('slider', { name: 'Isovalue on the histogram' });
    const slice = async () => readPng(await page.locator('.slice').first().screenshot());
    const isovalue = async () => Number(await histogram.getAttribute('aria-valuenow'));
    assert.equal(await histogram.locator('rect').count(), 257);
    const [first, before] = [await isovalue(), await slice()];
    const box = await histogram.boundingBox();
    await page.mouse.move(box.x + 0.25 * box.width, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 30, { steps: 3 });
    await page.mouse.up();
    assert.ok(Math.abs((await isovalue()) - 150) < 5, `dragged to ${await isovalue()}`);
    assert.ok((await isovalue()) > first);
    assert.ok(changed(before, await slice()) > 0.01, 'the tint on the slice follows');
    await page.getByLabel('Isovalue', { exact: true }).fill('50');
    await page.keyboard.press('Tab');
    assert.equal(await isovalue(), 50);
    const plain = await view.picture('surface-open');

    await page.getByLabel('Epsilon ε').fill('0.3');
    await page.getByRole('button', { name: 'Start' }).click();
    await view.until(() => view.status('frames'), (frames) => frames >= 1, 'particles');
    assert.ok((await view.status('particles')) > 1000);
    const settling = await page.locator('.stage').screenshot();
    assert.ok(view.requests.some((url) => url.includes('/surface/particles')));
    await made(view);
    assert.ok(changed(plain, readPng(settling)) > 0.02, 'particles were drawn');
    assert.match(await page.locator('.status').textContent(), /vertices, [\d,]+ triangles · \d+ iterations/);
    assert.match(await page.locator('.numbers').textContent(), /mean 0\.9\d+, min 0\.\d+/);
    assert.ok((await page.locator('.numbers rect').count()) === 50, 'the quality histogram');
    const mesh = await view.picture('surface');
    assert.ok(changed(plain, mesh) > 0.02 && colorCount(mesh) > 50, 'the mesh is drawn');
    await page.keyboard.press('e');
    await view.until(() => view.picture(), (now) => changed(mesh, now) > 0.02, 'no edges');
    await page.getByLabel('Colour by').selectOption('quality');
    await page.locator('.legend', { hasText: 'radius ratio' }).waitFor();

    await page.locator('.stage').focus();
    await page.keyboard.press('2');
    await page.getByLabel('Edges ×').fill('0.3');
    await view.drag([0.46, 0.35], [0.5, 0.4]);
    await page.locator('.item.stroke').waitFor();
    await view.drag([0.48, 0.62], [0.5, 0.66]);
    await page.keyboard.press('u');
    assert.equal(await page.locator('.item.stroke').count(), 1);
    await page.locator('.stage-hint', { hasText: 'have changed' }).waitFor();
    await page.keyboard.press('Enter');
    await made(view, 'a finer mesh');
    const [stroke] = (await saved(view)).state.strokes;
    const [few, more] = (await Promise.all(meshes)).map((points) => within(points, stroke.points[0], stroke.radius / 2));
    assert.ok(more > 3 * few, `${more} points under the brush, ${few} before`);
    const [all, then] = (await Promise.all(meshes)).map((points) => points.length / 3);
    assert.ok(then - all < 4 * more, 'and no more elsewhere');
    await view.picture('surface-brushed');
    assert.deepEqual(view.complaints, []);
    await view.close();
    await own.stop();
  });

  test('a surface can be stopped, kept in a state, and exported', async () => {
    const { own, view, page } = await openPhantom();
    await page.getByLabel('Sizes').selectOption('uniform');
    await page.getByLabel('Edge length', { exact: true }).fill('0.45');
    await page.keyboard.press('Tab');
    await page.locator('.stage').focus();
    await page.keyboard.press('Enter');
    await view.until(() => view.status('frames'), (frames) => frames >= 1, 'particles');
    await page.keyboard.press('Escape');
    await page.locator('.status', { hasText: 'stopped' }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Start' }).isEnabled());
    assert.ok(Number.isNaN(await view.status('triangles')));
    await page.keyboard.press('b');
    await page.getByLabel('Edge length', { exact: true }).fill('3');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Start' }).click();
    const triangles = await made(view);
    const { path, state } = await saved(view);
    assert.equal(state.uniform, 3);
    assert.equal(state.strokes.length, 1, 'particles can be brushed too');
    const png = await view.download(() => page.getByRole('button', { name: 'Picture' }).click());
    assert.ok(colorCount(readPng(readFileSync(png.path))) > 50);
    const file = await view.download(() => page.getByLabel('Export').selectOption('ply'));
    assert.ok(file.name.endsWith('.ply'), file.name);
    const header = readFileSync(file.path).toString('latin1', 0, 1000);
    assert.match(header, new RegExp(`element face ${triangles}\n`), 'the export is the mesh that is shown');
    await page.reload();
    await view.ready();
    await page.getByLabel('State file').setInputFiles(path);
    assert.equal(await made(view, 'the mesh of the state'), triangles);
    await page.getByLabel('Isovalue', { exact: true }).fill('9000');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Start' }).click();
    await view.notice('error').waitFor();
    await page.getByLabel('Data set').selectOption({ label: 'flat.nii.gz' });
    await page.locator('.stage-hint', { hasText: 'cannot be made here: the image is flat' }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Start' }).isDisabled());
    await page.locator('.hint', { hasText: 'look like labels' }).waitFor();
    assert.deepEqual(
      view.complaints.filter((text) => !/40[49]|422/.test(text)),
      [],
    );
    await view.close();
    await own.stop();
  });

  test('a browser without WebGL is told so', async () => {
    const plain = await openBrowser(['--disable-gpu', '--disable-3d-apis']);
    const view = await View.open(plain, server.url);
    await view.page.getByRole('heading', { name: 'No WebGL' }).waitFor();
    await plain.close();
  });
});
