// Makes the pictures of docs/pictures: node tests/pictures.mjs FOLDER [mesh] [tensors] [surface], with ISOCHRON naming
// the command; without names all of them.
import { join } from 'node:path';
import { isochron, openBrowser, serve, View } from './harness.mjs';

const [out = '.', ...chosen] = process.argv.slice(2);
const size = { viewport: { width: 1000, height: 640 } };

async function mesh(browser) {
  await isochron('generate', 'ventricle', '--elements', '200000', '-o', 'heart.vtu');
  const server = await serve('heart.vtu');
  const view = await (await View.open(browser, server.url, size)).ready();
  const { page } = view;
  await view.click(0.55, 0.5);
  await view.arrival();
  await page.getByLabel('Unit of times').fill('ms');
  await view.click(0.42, 0.24, 'Shift');
  await view.pathText();
  await page.getByLabel('Compare').selectOption('ab');
  const across = page.getByRole('group', { name: 'Setting B' }).getByLabel('Across', { exact: true });
  await view.enter(across, '0.6');
  await page.evaluate(() => document.activeElement?.blur());
  await view.picture();
  await page.waitForTimeout(1000);
  await page.screenshot({ path: join(out, 'view-mesh.png') });
  await server.stop();
}

async function tensors(browser) {
  await isochron('generate', 'crossing-fibers', '-o', 'crossing.nii.gz');
  const server = await serve('crossing.nii.gz');
  const view = await View.open(browser, server.url, { ...size, colorScheme: 'dark' });
  const { page } = view;
  const axial = page.locator('.slice').first();
  await axial.waitFor();
  const box = await axial.boundingBox();
  const scale = (Math.min(box.width, box.height) - 8) / 128;
  const pick = async (key, x, y) => {
    await page.keyboard.press(key);
    await axial.click({ position: { x: box.width / 2 + (x - 63) * scale, y: box.height / 2 - (y - 63) * scale } });
  };
  const costs = page.locator('.path .cost', { hasText: 'cost' });
  await pick('2', 20, 38);
  await pick('3', 106, 88);
  await costs.nth(0).waitFor();
  await page.getByRole('button', { name: 'New pathway' }).click();
  await pick('2', 20, 88);
  await pick('3', 106, 38);
  await costs.nth(1).waitFor();
  await page.evaluate(() => document.activeElement?.blur());
  await view.picture();
  await page.screenshot({ path: join(out, 'view-tensors.png') });
  await server.stop();
}

async function surface(browser) {
  await isochron('generate', 'phantom', '-o', 'phantom.nii.gz');
  const server = await serve('phantom_density.nii.gz');
  const view = await (await View.open(browser, server.url, { viewport: { width: 1000, height: 860 } })).ready();
  const { page } = view;
  const start = async () => {
    await page.getByRole('button', { name: 'Start' }).click();
    await view.until(() => view.status('triangles'), Number.isFinite, 'a mesh');
  };
  await page.locator('.stage-hint').waitFor();
  await view.enter(page.getByLabel('Isovalue', { exact: true }), '50', 'Tab');
  await page.getByLabel('Sizes').selectOption('uniform');
  await view.enter(page.getByLabel('Edge length', { exact: true }), '3', 'Tab');
  await start();
  await page.locator('.stage').focus();
  for (const key of ['ArrowDown', 'ArrowDown', '+', '+', '+', '2']) await page.keyboard.press(key);
  await page.getByLabel('Edges ×').fill('0.3');
  await view.drag([0.42, 0.34], [0.52, 0.4], 12);
  await page.locator('.item.stroke').waitFor();
  await start();
  await page.getByLabel('Colour by').selectOption('quality');
  await page.getByRole('button', { name: 'Look', exact: true }).click();
  await page.evaluate(() => document.activeElement?.blur());
  await view.picture();
  await page.screenshot({ path: join(out, 'view-surface.png') });
  await server.stop();
}

const drawings = { mesh, tensors, surface };
const browser = await openBrowser();
for (const name of chosen.length > 0 ? chosen : Object.keys(drawings)) await drawings[name](browser);
await browser.close();
