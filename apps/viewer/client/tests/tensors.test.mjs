// Tensor images in a real browser: slices, regions, pathways.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { describePage, isochron, View } from './harness.mjs';
import { changed } from './png.mjs';

async function files() {
  await isochron('generate', 'crossing-fibers', '--n', '32,32,12', '--spacing', '4', '-o', 'crossing.nii.gz');
  return ['crossing.nii.gz'];
}

describePage('tensor images', files, (opened) => {
  test('two regions on slices of a tensor image have a pathway', async () => {
    const view = await View.open(opened.browser, opened.url);
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
    const numbers = /mm, mean FA 0\.\d+; pathway of \d+ voxels/;
    await view.until(() => page.locator('.numbers').textContent(), (text) => numbers.test(text), 'its numbers');
    const before = await view.slice();
    await view.picture('tensors');
    const width = page.getByLabel('Width ε');
    const note = view.notice('notes').filter({ hasText: 'finer than the grid resolves' });
    await note.waitFor();
    await width.fill('0.5');
    await note.waitFor({ state: 'detached' });
    await width.fill('0.05');
    await note.waitFor();
    await click(100, 80);
    await view.until(cost, (now) => now !== first, 'another cost');
    await view.sliceShows((now) => changed(before, now) > 0.001, 'the slice to follow');
    const asked = (what) => view.requests.filter((url) => url.endsWith(`/${what}`)).length;
    const connects = asked('connect');
    await page.getByLabel('Tensor glyphs').check();
    await view.until(() => asked('glyphs'), (times) => times > 0, 'glyphs');
    await page.getByLabel('Paths').uncheck();
    await page.getByLabel('Paths').check();
    assert.equal(asked('connect'), connects, 'what is shown is not computed again');
    const space = await view.picture();
    await page.getByLabel('Volume').selectOption('fa');
    await view.shows((now) => changed(space, now) > 0.01, 'FA as a volume');
    await page.getByLabel('Volume').selectOption('cost');
    await view.until(() => view.requests.some((url) => url.includes('/volume/cost')), Boolean, 'the cost');
    await page.getByLabel('Volume').selectOption('');
    const { path } = await view.saved();
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
    await view.closeQuietly();
  });
});
