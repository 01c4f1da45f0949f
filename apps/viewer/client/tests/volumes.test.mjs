// Volumes in a real browser: isovalues and labels, particles, meshes, the brush.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { describePage, folder, isochron, serve, View } from './harness.mjs';
import { changed, colorCount, readPng } from './png.mjs';

async function files() {
  await isochron('generate', 'phantom', '--n', '48', '-o', 'phantom.nii.gz');
  await isochron('generate', 'phantom', '--n', '24,24,1', '-o', 'flat.nii.gz');
  return ['phantom_density.nii.gz', 'flat.nii.gz', 'phantom.nii.gz'];
}

/** How many points are in a ball. */
function within(points, center, radius) {
  let count = 0;
  for (let i = 0; i < points.length; i += 3)
    if (Math.hypot(...center.map((c, k) => points[i + k] - c)) < radius) ++count;
  return count;
}

const made = (view, what = 'a mesh') => view.until(() => view.status('triangles'), Number.isFinite, what);

describePage('volumes', files, (opened) => {
  /** A volume that takes a while, so that there is something to see. */
  const openPhantom = async () => {
    const view = await opened.open();
    await view.page.locator('.stage-hint', { hasText: 'Choose the isovalue' }).waitFor();
    return { view, page: view.page };
  };

  test('an isovalue, particles that settle, a mesh, and more particles under the brush', async () => {
    const { view, page } = await openPhantom();
    const answers = await view.answers('surface');
    const histogram = page.getByRole('slider', { name: 'Isovalue on the histogram' });
    const isovalue = async () => Number(await histogram.getAttribute('aria-valuenow'));
    assert.equal(await histogram.locator('rect').count(), 257);
    const [first, before] = [await isovalue(), await view.slice()];
    const box = await histogram.boundingBox();
    await page.mouse.move(box.x + 0.25 * box.width, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 30, { steps: 3 });
    await page.mouse.up();
    assert.ok(Math.abs((await isovalue()) - 150) < 5, `dragged to ${await isovalue()}`);
    assert.ok((await isovalue()) > first);
    await view.sliceShows((now) => changed(before, now) > 0.01, 'the tint on the slice follows');
    await view.enter(page.getByLabel('Isovalue', { exact: true }), '50', 'Tab');
    assert.equal(await isovalue(), 50);
    const plain = await view.picture('surface-open');

    await page.getByLabel('Epsilon ε').fill('0.3');
    await page.getByRole('button', { name: 'Start' }).click();
    await view.until(() => view.status('frames'), (frames) => frames >= 1, 'particles');
    assert.ok((await view.status('particles')) > 1000);
    await view.drawn();
    const settling = await page.locator('.stage').screenshot();
    assert.ok(view.requests.some((url) => url.includes('/surface/particles')));
    await made(view);
    assert.ok(changed(plain, readPng(settling)) > 0.02, 'particles were drawn');
    assert.match(await page.locator('.status').textContent(), /vertices, [\d,]+ triangles · \d+ iterations/);
    assert.match(await page.locator('.numbers').textContent(), /mean 0\.9\d+, min 0\.\d+/);
    assert.ok((await page.locator('.numbers rect').count()) === 50, 'the quality histogram');
    const drawn = (now) => changed(plain, now) > 0.02 && colorCount(now) > 50;
    const mesh = await view.shows(drawn, 'the mesh to be drawn', 'surface');
    await page.keyboard.press('e');
    await view.shows((now) => changed(mesh, now) > 0.02, 'no edges');
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
    const [stroke] = (await view.saved()).state.strokes;
    const meshes = (await answers.first(2)).map(({ pack }) => pack.floats('points'));
    const [few, more] = meshes.map((points) => within(points, stroke.points[0], stroke.radius / 2));
    assert.ok(more > 3 * few, `${more} points under the brush, ${few} before`);
    const [all, then] = meshes.map((points) => points.length / 3);
    assert.ok(then - all < 4 * more, 'and no more elsewhere');
    await view.picture('surface-brushed');
    await view.closeQuietly();
  });

  test('a surface can be stopped, kept in a state, and exported', async () => {
    const { view, page } = await openPhantom();
    await page.getByLabel('Sizes').selectOption('uniform');
    await view.enter(page.getByLabel('Edge length', { exact: true }), '0.45', 'Tab');
    await page.locator('.stage').focus();
    await page.keyboard.press('Enter');
    await view.until(() => view.status('frames'), (frames) => frames >= 1, 'particles');
    await page.keyboard.press('Escape');
    await page.locator('.status', { hasText: 'stopped' }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Start' }).isEnabled());
    assert.ok(Number.isNaN(await view.status('triangles')));
    await page.keyboard.press('b');
    await view.enter(page.getByLabel('Edge length', { exact: true }), '3', 'Tab');
    await page.getByRole('button', { name: 'Start' }).click();
    const triangles = await made(view);
    const { path, state } = await view.saved();
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
    await view.enter(page.getByLabel('Isovalue', { exact: true }), '9000');
    await page.getByRole('button', { name: 'Start' }).click();
    await view.notice('error').waitFor();
    await page.getByLabel('Data set').selectOption({ label: 'flat.nii.gz' });
    await page.locator('.stage-hint', { hasText: 'cannot be made here: the image is flat' }).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Start' }).isDisabled());
    assert.deepEqual(
      view.complaints.filter((text) => !/40[49]|422/.test(text)),
      [],
    );
    await view.close();
  });

  test('volumes without a surface are shown, and why there is none', async () => {
    const npy = (value) => {
      const head = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4, 4), }".padEnd(117) + '\n';
      const size = Buffer.from([head.length, 0]);
      const values = Buffer.from(new Float32Array(64).fill(value).buffer);
      return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), size, Buffer.from(head), values]);
    };
    writeFileSync(join(folder, 'five.npy'), npy(5));
    writeFileSync(join(folder, 'nan.npy'), npy(Number.NaN));
    const own = await serve('five.npy', 'nan.npy');
    const view = await View.open(opened.browser, own.url);
    const { page } = view;
    await page.locator('.stage-hint', { hasText: 'all values are 5' }).waitFor();
    assert.equal(await page.locator('.panel .about').textContent(), '4 × 4 × 4 voxels of 1 × 1 × 1');
    assert.equal(await page.getByLabel('Isovalue', { exact: true }).inputValue(), '5');
    await page.getByLabel('Data set').selectOption({ label: 'nan.npy' });
    await page.locator('.stage-hint', { hasText: 'no voxel has a number' }).waitFor();
    assert.equal(await page.getByLabel('Isovalue', { exact: true }).inputValue(), '0');
    await view.closeQuietly();
    await own.stop();
  });

  test('one label of a map', async () => {
    const { view, page } = await openPhantom();
    await page.getByLabel('Data set').selectOption({ label: 'phantom.nii.gz' });
    await page.locator('.stage-hint', { hasText: 'Choose the label' }).waitFor();
    const label = page.getByRole('combobox', { name: 'Label', exact: true });
    const options = await label.locator('option').allTextContents();
    assert.match(options[0], /^0 \([\d,]+ voxels\)$/);
    assert.ok(options.length >= 3, options.join());
    await label.selectOption('1');
    const before = await view.slice();
    await label.selectOption('2');
    await view.sliceShows((now) => changed(before, now) > 0.005, 'the tint on the slice follows');
    await page.getByLabel('Sizes').selectOption('uniform');
    await view.enter(page.getByLabel('Edge length', { exact: true }), '3', 'Tab');
    const answers = await view.answers('surface');
    const plain = await view.picture();
    await page.getByRole('button', { name: 'Start' }).click();
    const triangles = await made(view);
    const [{ asked, pack: first }] = await answers.first(1);
    assert.equal(asked.label, 2);
    assert.ok(!('isovalue' in asked) && !('inside' in asked));
    const told = await isochron('surface', 'phantom.nii.gz', '--label', '2', '--uniform', '3', '-o', 'two.ply', '--json');
    const command = JSON.parse(told).elements;
    assert.equal(triangles, command, 'the mesh that isochron surface --label makes');
    await view.shows((now) => changed(plain, now) > 0.02, 'the mesh is drawn', 'label');
    const { path, state } = await view.saved();
    assert.deepEqual([state.by, state.label], ['label', 2]);
    await page.getByLabel('The object is').selectOption('isovalue');
    await page.getByRole('slider', { name: 'Isovalue on the histogram' }).waitFor();
    await page.locator('.stage-hint', { hasText: 'have changed' }).waitFor();
    await page.getByLabel('State file').setInputFiles(path);
    const [, { pack: again }] = await answers.first(2);
    assert.equal(await label.inputValue(), '2');
    assert.deepEqual(again.floats('points'), first.floats('points'));
    await view.closeQuietly();
  });
});
