// Lets Node's tests import the client's TypeScript: one module and what it needs, translated in memory.
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

export async function load(path) {
  const result = await build({
    root,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: { write: false, minify: false, lib: { entry: resolve(root, path), formats: ['es'] } },
  });
  const { code } = [result].flat()[0].output[0];
  return import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);
}
