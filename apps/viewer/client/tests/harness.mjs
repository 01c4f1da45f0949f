// Runs `isochron view` on generated data and opens it in a browser without a window.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { load } from './bundle.mjs';
import { readPng } from './png.mjs';

/** The command and the browser; ISOCHRON and CHROMIUM name others. Null where there is none. */
const usual = resolve(dirname(fileURLToPath(import.meta.url)), '../../../../build/release/bin/isochron');
export const command = [process.env.ISOCHRON, usual].find((p) => p && existsSync(p)) ?? null;
const browserPath =
  [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'].find((p) => p && existsSync(p)) ?? null;

function whyNot() {
  if (command === null) return 'no isochron (set ISOCHRON)';
  return browserPath === null ? 'no chromium (set CHROMIUM)' : false;
}

export const folder = mkdtempSync(join(tmpdir(), 'isochron-view-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
/** Where pictures of the page are kept. */
export const artefacts = process.env.ISOCHRON_ARTEFACTS ?? join(tmpdir(), 'isochron-view-pictures');
mkdirSync(artefacts, { recursive: true });

export async function isochron(...words) {
  const { stdout } = await promisify(execFile)(command, words, { cwd: folder });
  return stdout;
}

export const softwareGl = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];

export function openBrowser(flags = softwareGl) {
  return chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', ...flags] });
}

const servers = new Set();

/** Those that a failed test has left. */
function stopServers() {
  for (const server of servers) server.kill('SIGKILL');
}

/** Starts the server and waits for its address. */
export async function serve(...files) {
  const server = spawn(command, ['view', '--no-browser', ...files], { cwd: folder });
  servers.add(server);
  let said = '';
  const url = await new Promise((resolve, reject) => {
    server.stderr.on('data', (bytes) => (said += bytes));
    server.stdout.on('data', (bytes) => {
      said += bytes;
      const found = /http:\/\/\S+/.exec(said);
      if (found !== null) resolve(found[0]);
    });
    server.on('exit', (code) => reject(new Error(`isochron view ended with ${code}: ${said}`)));
  });
  const ended = new Promise((resolve) => server.on('exit', resolve)).then(() => servers.delete(server));
  const stop = async (signal = 'SIGTERM') => {
    server.kill(signal);
    await ended;
  };
  return { url, stop };
}

export const patience = 30_000;

/** A window on an address, with helpers for the mesh mode. Complaints of the page are collected. */
export class View {
  complaints = [];
  requests = [];

  /** `init` runs in the page before anything else does. */
  static async open(browser, url, { init, ...options } = {}) {
    const context = await browser.newContext({
      viewport: { width: 900, height: 560 },
      acceptDownloads: true,
      ...options,
    });
    const view = new View();
    view.page = await context.newPage();
    view.page.setDefaultTimeout(patience);
    view.page.on('pageerror', (error) => view.complaints.push(String(error)));
    view.page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) view.complaints.push(message.text());
    });
    view.page.on('request', (request) => view.requests.push(request.url()));
    if (init !== undefined) await view.page.addInitScript(init);
    await view.page.goto(url);
    return view;
  }

  async ready() {
    await this.page.locator('.stage canvas').waitFor();
    return this;
  }

  async at(x, y) {
    const box = await this.page.locator('.stage').boundingBox();
    return [box.x + x * box.width, box.y + y * box.height];
  }

  async click(x, y, key) {
    if (key !== undefined) await this.page.keyboard.down(key);
    await this.page.mouse.click(...(await this.at(x, y)));
    if (key !== undefined) await this.page.keyboard.up(key);
  }

  async drag(from, to, steps = 6) {
    const [a, b] = [await this.at(...from), await this.at(...to)];
    await this.page.mouse.move(...a);
    await this.page.mouse.down();
    await this.page.mouse.move(...b, { steps });
    await this.page.mouse.up();
  }

  /** Number `name` of the status line; NaN before there is an arrival. */
  async status(name = 'latest') {
    return Number((await this.page.locator('.status').getAttribute(`data-${name}`)) ?? NaN);
  }

  /** Waits until `test` holds for what `read` gives, and gives that back. */
  async until(read, test, what) {
    const end = Date.now() + patience;
    for (;;) {
      const value = await read();
      if (test(value)) return value;
      if (Date.now() > end) throw new Error(`waited in vain for ${what}; the last value was ${value}`);
      await this.page.waitForTimeout(40);
    }
  }

  /** Waits for an arrival that passes the test, and gives its latest time back. */
  arrival(what = 'an arrival', test = Number.isFinite) {
    return this.until(() => this.status(), test, what);
  }

  /** Waits for a picture that passes the test, and gives it back. */
  shows(test, what, name) {
    return this.until(() => this.picture(name), test, what);
  }

  /** The same for the first slice of an image. */
  sliceShows(test, what) {
    return this.until(() => this.slice(), test, what);
  }

  /** Waits for a path, and gives back what is said of it. */
  pathText() {
    return this.until(() => this.page.locator('.item.path').textContent(), (now) => /time/.test(now), 'a path');
  }

  /** Fills a field and ends with a key. */
  async enter(field, text, key = 'Enter') {
    await field.fill(text);
    await field.press(key);
  }

  /** Waits until the page has drawn what it knew of: it draws before the next frame of the screen. */
  async drawn() {
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }

  /** A picture of the stage once it stands still. What is on its way from the server may come later: see `until`. */
  async picture(name) {
    await this.drawn();
    let before = '';
    for (let i = 0; i < 40; ++i) {
      const bytes = await this.page.locator('.stage').screenshot();
      const text = bytes.toString('base64');
      if (text === before) break;
      before = text;
      await this.page.waitForTimeout(60);
    }
    if (name !== undefined) await this.page.screenshot({ path: join(artefacts, `${name}.png`) });
    return readPng(Buffer.from(before, 'base64'));
  }

  /** A picture of the first slice of an image. */
  async slice() {
    await this.drawn();
    return readPng(await this.page.locator('.slice').first().screenshot());
  }

  async download(action) {
    const [file] = await Promise.all([this.page.waitForEvent('download'), action()]);
    return { name: file.suggestedFilename(), path: await file.path() };
  }

  /** The file that "Save state" gives, and what is in it. */
  async saved() {
    const file = await this.download(() => this.page.getByRole('button', { name: 'Save state' }).click());
    return { ...file, state: JSON.parse(readFileSync(file.path, 'utf8')) };
  }

  /**
   * The answers to a question from now on, unpacked, each with what was asked. The page may show one before it is
   * unpacked here: `first` waits for as many as are counted on, `last` for one that passes the test.
   */
  async answers(question) {
    const { Pack } = await load('src/pack.ts');
    const found = [];
    this.page.on('response', async (answer) => {
      if (!answer.url().endsWith(`/${question}`) || !answer.ok()) return;
      const bytes = await answer.body().catch(() => null); // the window was closed meanwhile
      if (bytes === null) return;
      found.push({ asked: answer.request().postDataJSON(), pack: Pack.decode(new Uint8Array(bytes).buffer) });
    });
    return {
      count: () => found.length,
      first: (count) => this.until(() => found, ({ length }) => length >= count, `${count} answers of ${question}`),
      last: (test, what) => this.until(() => found.at(-1), (last) => last !== undefined && test(last), what),
    };
  }

  /** The names of the notices that come up from now on, even of those that are gone before one can look. */
  async toldFromNow() {
    await this.page.locator('.notices').evaluate((notices) => {
      window.told = [];
      const note = (changes) =>
        changes.forEach(({ addedNodes }) => window.told.push(...[...addedNodes].map((node) => node.dataset.name)));
      new MutationObserver(note).observe(notices, { childList: true });
    });
    return () => this.page.evaluate(() => window.told);
  }

  notice(name) {
    return this.page.locator(`.notice[data-name=${name}]`);
  }

  close() {
    return this.page.context().close();
  }

  /** The same, of a page that has not complained. */
  closeQuietly() {
    assert.deepEqual(this.complaints, []);
    return this.close();
  }
}

/** A place of the stage where the generated meshes are. */
export const middle = [0.5, 0.55];

/**
 * Tests with one browser and one server, on the files that `prepare` makes and names. `body` is given the browser, the
 * address and ways to open it, which are there once tests run.
 */
export function describePage(name, prepare, body) {
  describe(name, { skip: whyNot() }, () => {
    let server;
    const page = {
      browser: null,
      get url() {
        return server.url;
      },
      openAt: async (url, options) => (await View.open(page.browser, url, options)).ready(),
      open: (options) => page.openAt(server.url, options),
      openWithSource: async (at) => {
        const view = await page.open();
        await view.click(...at);
        await view.arrival();
        return view;
      },
    };
    /** A test in a window of its own; options: where to set a source, and that the page must not complain. */
    page.test = (name, { source, quiet, ...options }, body) =>
      test(name, async () => {
        const view = await (source === undefined ? page.open(options) : page.openWithSource(source));
        await body(view);
        await (quiet ? view.closeQuietly() : view.close());
      });
    before(async () => {
      server = await serve(...(await prepare()));
      page.browser = await openBrowser();
    });
    after(async () => {
      await page.browser?.close();
      await server?.stop();
      stopServers();
    });
    body(page);
  });
}
