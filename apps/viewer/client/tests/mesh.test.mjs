// Meshes in a real browser: sources, fronts, paths, cuts, settings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describePage, isochron, middle } from './harness.mjs';
import { changed, colorCount, share } from './png.mjs';

const dark = (r, g, b) => r < 60 && g < 60 && b < 60;
const ahead = (r, g, b) => Math.abs(r - g) < 12 && Math.abs(g - b) < 14 && r > 80 && r < 235;

const source = { source: middle };
const quietSource = { ...source, quiet: true };

async function files() {
  await isochron('generate', 'ventricle', '--elements', '12000', '-o', 'heart.vtu');
  await isochron('generate', 'lens', '--n', '8', '-o', 'lens.vtu');
  await isochron('generate', 'sphere', '--frequency', '101', '-o', 'fine.ply');
  return ['heart.vtu', 'lens.vtu', 'fine.ply'];
}

describePage('meshes', files, (page) => {
  page.test('opens, asks nobody else, and says what to do', { quiet: true }, async (view) => {
    await view.page.locator('.stage-hint', { hasText: 'Click the surface' }).waitFor();
    assert.match(await view.page.locator('.panel .about').textContent(), /^[\d,]+ vertices, [\d,]+ tetrahedra$/);
    await view.shows((now) => colorCount(now) > 50, 'a shaded surface', 'open');
    const origin = new URL(page.url).origin;
    assert.deepEqual(
      view.requests.filter((url) => !url.startsWith(origin) && !url.startsWith('blob:')),
      [],
    );
  });

  page.test('a click starts a front, with the times that isochron solve gives', quietSource, async (view) => {
    await view.shows((now) => share(now, ahead) < 0.1, 'colours on the surface', 'pick');
    const { state } = await view.saved();
    assert.equal(state.sources.length, 1);
    const solve = 'solve heart.vtu -o check.vtu --force --json --fibers fiber --velocity 0.6,0.3 --source-point';
    const summary = JSON.parse(await isochron(...solve.split(' '), state.sources[0].point.join(',')));
    const latest = await view.status();
    assert.ok(Math.abs(latest - summary.max_time) < 1e-3 * latest, `${latest} against ${summary.max_time}`);
    assert.ok((await view.page.locator('.status').textContent()).includes(' ms '));
    await view.shows((now) => share(now, dark) > 0.005, 'isochrones are drawn');
    await view.page.keyboard.press('i');
    await view.shows((now) => share(now, dark) < 0.005, 'isochrones are hidden');
  });

  page.test('a source is dragged, and isochrones move', source, async (view) => {
    const [before, latest] = [await view.picture(), await view.status()];
    const camera = (await view.saved()).state.camera;
    await view.drag(middle, [0.42, 0.4]);
    await view.arrival('another arrival', (now) => now !== latest);
    await view.shows((now) => changed(before, now) > 0.03, 'the picture has changed', 'drag');
    const { state } = await view.saved();
    assert.deepEqual(state.camera, camera, 'a drag of a source does not turn the view');
    await view.drag([0.1, 0.5], [0.2, 0.5]);
    assert.notDeepEqual((await view.saved()).state.camera, camera, 'a drag beside turns it');
  });

  page.test('the slider of moments shows the front without asking the server', source, async (view) => {
    const all = share(await view.picture(), ahead);
    const asked = view.requests.length;
    await view.page.getByLabel('Moment of the front').fill(((await view.status()) / 4).toFixed(1));
    await view.shows((now) => share(now, ahead) > all + 0.05, `more than ${all} ahead of the front`, 'front');
    const caption = view.page.locator('.stage-caption');
    const moment = Number((await caption.textContent()).replace('front at ', ''));
    assert.ok(Math.abs(moment - (await view.status()) / 4) < 0.1, `the picture says its moment, ${moment}`);
    await view.page.keyboard.press('Escape');
    await view.shows((now) => share(now, ahead) < all + 0.01, 'all times');
    assert.equal(await caption.textContent(), '');
    await view.page.getByRole('button', { name: 'Let the front run' }).click();
    const readout = view.page.locator('.moment');
    const one = await readout.textContent();
    await view.until(
      () => readout.textContent(),
      (now) => now !== one,
      'the front to run',
    );
    assert.equal(view.requests.length, asked);
  });

  page.test('several sources with onset times, deleted again', { source: [0.45, 0.7] }, async (view) => {
    const one = await view.status();
    await view.click(0.5, 0.35, 'Control');
    const two = await view.arrival('two sources', (now) => now !== one);
    assert.ok(two < one, 'a second source can only be earlier');
    await view.enter(view.page.getByLabel('Onset time of Source 2'), '1000');
    await view.arrival('the late source not to matter', (now) => now > two + 1e-3);
    await view.page.getByRole('button', { name: 'Delete Source 2' }).click();
    await view.arrival('the first arrival', (now) => Math.abs(now - one) < 1e-6 * one);
  });

  page.test('a point has a path and a time', source, async (view) => {
    const before = await view.picture();
    await view.click(0.45, 0.3, 'Shift');
    const text = await view.pathText();
    const [, time, length] = /time ([\d.]+), length ([\d.]+)/.exec(text).map(Number);
    assert.ok(time > 0 && time <= (await view.status()));
    assert.ok(length / 0.6 <= time * 1.02 && length / 0.3 >= time * 0.98, `${length} in ${time} at 0.3 to 0.6`);
    await view.shows((now) => changed(before, now) > 0.0005, 'the path is drawn', 'path');
  });

  page.test('volumes are cut open, fibres shown', quietSource, async (view) => {
    const whole = await view.picture();
    await view.page.getByLabel('Clip', { exact: true }).check();
    const cut = await view.shows((now) => changed(whole, now) > 0.03, 'the cut', 'clip');
    await view.page.getByLabel('Place of the clip plane').fill('0.7');
    await view.shows((now) => changed(cut, now) > 0.01, 'another cut');
    await view.page.getByLabel('Clip', { exact: true }).uncheck();
    await view.shows((now) => changed(whole, now) < 0.002, 'the whole again');
    await view.page.locator('details', { hasText: 'Display' }).getByLabel('Fibres').selectOption('fiber');
    await view.shows((now) => changed(whole, now) > 0.01, 'fibres', 'fibers');
  });

  page.test('the front and surfaces of equal time inside a volume', quietSource, async (view) => {
    const answers = await view.answers('isosurface');
    const [whole, latest] = [await view.picture(), await view.status()];
    const inside = view.page.getByRole('combobox', { name: 'Inside', exact: true });
    await inside.selectOption('front');
    const half = await view.shows((now) => changed(whole, now) > 0.1, 'the outside to turn to glass', 'front-inside');
    const [front] = await answers.first(1);
    assert.deepEqual(front.asked.levels, [latest / 2], 'half way while all times are shown');
    assert.ok(front.pack.floats('points').length > 300);
    await view.page.getByLabel('Moment of the front').fill((latest / 4).toFixed(1));
    await answers.last(({ asked: { levels } }) => Math.abs(levels[0] - latest / 4) < 0.1, 'its moment');
    await view.shows((now) => changed(half, now) > 0.02, 'the front moves');
    await view.page.keyboard.press('Escape');

    await inside.selectOption('isochrones');
    const spacing = await view.status('spacing');
    const { asked, pack } = await answers.last((last) => last.asked.levels.length > 5, 'surfaces');
    for (const level of asked.levels) {
      const many = level / spacing;
      assert.ok(Math.abs(many - Math.round(many)) < 1e-3, `${level} is a multiple of ${spacing}`);
    }
    assert.deepEqual([...new Set(pack.floats('levels'))].sort((a, b) => a - b).length, asked.levels.length);
    const shells = await view.shows((now) => changed(half, now) > 0.02, 'surfaces to be drawn', 'surfaces-inside');
    const before = answers.count();
    await view.page.getByLabel('Moment of the front').fill((latest / 4).toFixed(1));
    await view.shows((now) => changed(shells, now) > 0.02, 'later ones are hidden');
    assert.equal(answers.count(), before, 'without asking the server');
    await view.page.keyboard.press('Escape');
    await view.page.getByLabel('Clip', { exact: true }).check();
    await view.shows((now) => changed(shells, now) > 0.03, 'the cut', 'surfaces-clipped');
    await view.page.getByLabel('Clip', { exact: true }).uncheck();
    const { state } = await view.saved();
    assert.equal(state.inside, 'isochrones');
    await view.page.keyboard.press('f');
    await view.shows((now) => changed(whole, now) < 0.002, 'the outside again');
  });

  test('a mesh is drawn once when it opens, and asked for before the program is there', async () => {
    const init = () => {
      window.draws = [];
      const { prototype } = WebGL2RenderingContext;
      const { drawElements } = prototype;
      prototype.drawElements = function (mode, count, ...rest) {
        window.draws.push(count);
        drawElements.call(this, mode, count, ...rest);
      };
    };
    const smooth = (view) =>
      view.page
        .locator('.stage canvas')
        .evaluate((canvas) => canvas.getContext('webgl2').getContextAttributes().antialias);
    const view = await page.open({ init });
    await view.picture();
    const [count, ...more] = await view.page.evaluate(() => window.draws);
    assert.ok(count > 1000);
    assert.deepEqual(more, []);
    const first = (part) => view.requests.findIndex((url) => url.includes(part));
    assert.ok(first('/geometry') > 0 && first('/geometry') < first('mesh_mode'), view.requests.join('\n'));
    assert.equal(view.requests.filter((url) => url.endsWith('/geometry')).length, 1);
    assert.equal(await smooth(view), true);
    await view.page.getByLabel('Data set').selectOption({ label: 'fine.ply' });
    await view.until(() => view.page.evaluate(() => window.draws.at(-1)), (now) => now > 600_000, 'the fine mesh');
    assert.equal(await smooth(view), false, 'many triangles are drawn by the processor without smoothing');
    await view.closeQuietly();
  });

  page.test('two settings side by side, and their difference', source, async (view) => {
    await view.page.getByLabel('Compare').selectOption('difference');
    await view.page.getByText('B − A', { exact: true }).waitFor();
    assert.equal(await view.page.locator('.overlay .pane').count(), 3);
    const legend = view.page.locator('.legend').nth(2);
    await legend.waitFor();
    const same = await view.picture();
    const across = view.page.getByRole('group', { name: 'Setting B' }).getByLabel('Across', { exact: true });
    await view.enter(across, '0.6');
    await view.shows((now) => changed(same, now) > 0.05, 'the panes to differ', 'compare');
    await view.page.getByLabel('Compare').selectOption('off');
    assert.equal(await view.page.locator('.overlay .pane').count(), 1);
  });

  page.test('regions have speeds of their own', { quiet: true }, async (view) => {
    await view.page.getByLabel('Data set').selectOption({ label: 'lens.vtu' });
    await view.page.getByLabel('Each region its own').waitFor();
    await view.click(0.5, 0.5);
    const slow = await view.arrival();
    await view.page.getByLabel('Each region its own').check();
    await view.enter(view.page.getByLabel('Region 0', { exact: true }), '2');
    await view.arrival('a faster region', (now) => now < 0.8 * slow);
    await view.page.getByLabel('Colour by').selectOption('cells/region');
    await view.page.locator('.legend', { hasText: 'region' }).waitFor();
    await view.picture('regions');
  });

  page.test('a lost WebGL context comes back', source, async (view) => {
    const before = await view.picture();
    const told = await view.toldFromNow();
    await view.page
      .locator('.stage canvas')
      .evaluate((canvas) => canvas.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext());
    await view.until(told, (names) => names.includes('webgl'), 'the loss to be told');
    await view.notice('webgl').waitFor({ state: 'detached' });
    await view.shows((now) => changed(before, now) < 0.002, 'the same picture');
    await view.drag(middle, [0.45, 0.45]);
    await view.shows((now) => changed(before, now) > 0.02, 'the source to move');
  });
});
