// Makes the pictures of docs/pictures: node tests/pictures.mjs FOLDER, with ISOCHRON naming the command.
import { join } from 'node:path';
import { isochron, openBrowser, serve, View } from './harness.mjs';

const [out = '.'] = process.argv.slice(2);
const size = { viewport: { width: 1000, height: 640 } };

async function mesh(browser) {
  await isochron('generate', 'ventricle', '--elements', '200000', '-o', 'heart.vtu');
  const server = await serve('heart.vtu');
  const view = await (await View.open(browser, server.url, size)).ready();
  const { page } = view;
  await view.click(0.55, 0.5);
  await view.until(() => view.status(), Number.isFinite, 'an arrival');
  await page.getByLabel('Unit of times').fill('ms');
  await view.click(0.42, 0.24, 'Shift');
  await view.until(() => page.locator('.item.path').textContent(), (now) => /time/.test(now), 'a path');
  await page.getByLabel('Compare').selectOption('ab');
  await page.getByRole('group', { name: 'Setting B' }).getByLabel('Across', { exact: true }).fill('0.6');
  await page.keyboard.press('Enter');
  await page.evaluate(() => document.activeElement?.blur());
  await view.picture();
  await page.waitForTimeout(1000);
  await page.screenshot({ path: join(out, 'view-mesh.png') });
  await server.stop();
}

const browser = await openBrowser();
await mesh(browser);
await browser.close();
