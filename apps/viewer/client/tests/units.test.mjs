// The client's parts that need no browser.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { load } from './bundle.mjs';

const camera = { position: [0, 0, 9], focus: [0, 0, 0], up: [0, 1, 0] };
const box = [[-1, -2, -3], [4, 5, 6]];
const surfaceModel = async () => ({
  ...(await load('src/surface/surface_model.ts')),
  ...(await load('src/state_file.ts')),
});

function packed(header, payload) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil((8 + text.length) / 8) * 8;
  const bytes = new Uint8Array(length + payload.byteLength).fill(0x20, 0, length);
  bytes.set(new TextEncoder().encode('ISO1'));
  new DataView(bytes.buffer).setUint32(4, length - 8, true);
  bytes.set(text, 8);
  bytes.set(new Uint8Array(payload), length);
  return bytes.buffer;
}

test('a pack is decoded, and a broken one refused', async () => {
  const { Pack } = await load('src/pack.ts');
  const payload = new ArrayBuffer(24);
  new Float32Array(payload, 0, 3).set([1.5, -2, Infinity]);
  new Uint32Array(payload, 16, 2).set([7, 4000000000]);
  const header = {
    meta: { max_time: 3, name: 'x', missing: null },
    arrays: {
      times: { dtype: 'float32', shape: [3], offset: 0, units: 'ms' },
      ids: { dtype: 'uint32', shape: [1, 2], offset: 16 },
    },
  };
  const pack = Pack.decode(packed(header, payload));
  assert.deepEqual([...pack.floats('times')], [1.5, -2, Infinity]);
  assert.deepEqual([...pack.ids('ids')], [7, 4000000000]);
  assert.deepEqual(pack.shape('ids'), [1, 2]);
  assert.equal(pack.units('times'), 'ms');
  assert.equal(pack.number('max_time'), 3);
  assert.equal(pack.number('missing', 9), 9);
  assert.throws(() => pack.floats('ids'), /no array ids/);
  assert.throws(() => Pack.decode(new ArrayBuffer(4)), /no pack/);
  assert.throws(() => Pack.decode(packed(header, payload.slice(0, 16))), /array ids .* cut short/);
});

test('colours are those of the library', async () => {
  const { colorMap, differenceMap } = await load('src/color_map.ts');
  const map = colorMap(256);
  assert.equal(map.length, 256);
  const light = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  for (let i = 1; i < map.length; ++i) assert.ok(light(map[i]) > light(map[i - 1]) - 1.5, `lightness at ${i}`);
  // What color_map(3) of the library gives.
  assert.deepEqual(colorMap(3), [
    [57, 16, 105],
    [29, 155, 167],
    [250, 241, 100],
  ]);
  const middle = differenceMap(3)[1];
  assert.ok(Math.min(...middle) > 235, 'no difference is nearly white');
});

test('a ray meets the nearest triangle', async () => {
  const { pick, valueAt } = await load('src/mesh/pick.ts');
  const mesh = {
    points: new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1, 1, 0, -1, 0, 1, -1]),
    triangles: new Uint32Array([3, 4, 5, 0, 1, 2]),
  };
  const hit = pick(mesh, { origin: [0.25, 0.5, 2], direction: [0, 0, -1] });
  assert.equal(hit.triangle, 1);
  assert.deepEqual(hit.point, [0.25, 0.5, 0]);
  assert.equal(valueAt(mesh, new Float32Array([0, 4, 8, 0, 0, 0]), hit), 5);
  assert.equal(pick(mesh, { origin: [0.25, 0.5, -0.5], direction: [0, 0, -1] }).triangle, 0);
  assert.equal(pick(mesh, { origin: [0.75, 0.5, 2], direction: [0, 0, -1] }), null);
});

test('a point is seen where its ray goes', async () => {
  const { cameraFor, lensFor, orbit, pan, rayThrough, seenAt, zoom } = await load('src/view/camera.ts');
  let camera = cameraFor(box);
  for (const aspect of [1, 1.5]) {
    const lens = lensFor(box, aspect);
    for (const corner of [...box, [4, -2, 6]]) {
      assert.ok(Math.max(...seenAt(camera, lens, corner).map(Math.abs)) <= 1, 'the whole box is seen');
    }
  }
  const lens = lensFor(box, 1.5);
  camera = zoom(pan(orbit(camera, 0.4, -0.3), lens, 0.1, 0.2), 1.3);
  const [x, y] = seenAt(camera, lens, [1, 2, 0.5]);
  const { origin, direction } = rayThrough(camera, lens, x, y);
  const along = [1, 2, 0.5].map((p, k) => p - origin[k]);
  const length = Math.hypot(...along);
  along.forEach((a, k) => assert.ok(Math.abs(a / length - direction[k]) < 1e-12));
});

test('sharp edges get corners of their own, smooth ones do not', async () => {
  const { drawnMesh, separateTriangles } = await load('src/mesh/drawn_mesh.ts');
  const fold = (z) => ({
    points: new Float32Array([0, 0, 0, 0, 1, 0, 1, 0, 0, -1, 0, z]),
    triangles: new Uint32Array([0, 2, 1, 0, 1, 3]),
  });
  assert.equal(drawnMesh(fold(0.1)).vertexOf.length, 4);
  const sharp = drawnMesh(fold(3));
  assert.ok(sharp.vertexOf.length > 4);
  sharp.triangles.forEach((v, i) => assert.equal(sharp.vertexOf[v], fold(3).triangles[i]));
  const apart = separateTriangles(sharp);
  assert.deepEqual([...apart.vertexOf], [...fold(3).triangles]);
});

test('what is wanted again while it waits is renewed once', async () => {
  const { Refresh } = await load('src/refresh.ts');
  const done = [];
  let release;
  const ended = new AbortController();
  const refresh = new Refresh(async (name) => {
    done.push(name);
    if (done.length === 1) await new Promise((resolve) => (release = resolve));
  }, ended.signal);
  refresh.want('a');
  for (let i = 0; i < 5; ++i) refresh.want('a');
  refresh.want('b');
  release();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(done, ['a', 'a', 'b']);
  assert.equal(refresh.busy, false);
  refresh.want('c');
  assert.deepEqual(done, ['a', 'a', 'b', 'c']);
  ended.abort();
  refresh.want('d');
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(done, ['a', 'a', 'b', 'c'], 'nothing is asked for after the end');
});

test('a state file keeps everything, and a bad one is refused', async () => {
  const { defaultModel, readStateFile, speedRequest } = await load('src/mesh/model.ts');
  const { writeState } = await load('src/state_file.ts');
  const data = {
    name: 'heart.vtu',
    kind: 'mesh',
    fibers: ['fiber'],
    arrays: [{ name: 'speed', on: 'cells', components: 1, low: 0.5, high: 2 }],
    regions: { array: 'region', values: [1, 2] },
  };
  const model = defaultModel(data);
  model.sources.push({ point: [1, 2, 3], time: 4 });
  model.selected = 0;
  model.settings.b.regions = { 1: 0.4, 2: 0.8 };
  model.compare = 'difference';
  model.coloring = 'cells/speed';
  model.moment = 12.5;
  const back = readStateFile(writeState(data, camera, model), data);
  assert.deepEqual(back.model, model);
  assert.deepEqual(back.camera, camera);
  assert.deepEqual(speedRequest(model.settings.b, data), {
    fibers: { array: 'fiber', velocity: [0.6, 0.3] },
    regions: { array: 'region', speeds: { 1: [0.4, 0.2], 2: [0.8, 0.4] } },
  });
  const strange = { ...model.settings.b, kind: 'constant', speed: 1, regions: { 2: 0.8, 7: 3 } };
  assert.deepEqual(speedRequest(strange, data), { speed: 1, regions: { array: 'region', speeds: { 2: 0.8 } } });
  assert.throws(() => readStateFile('{', data), /no JSON/);
  assert.throws(() => readStateFile('{"what": "else"}', data), /no state/);
  const odd = readStateFile(
    '{"what": "isochron view state", "sources": [{"point": [1, "x", 2]}, null], "spacing": -1}',
    data,
  );
  assert.deepEqual(odd.model, defaultModel(data));
});

test('slices lie where the affine says', async () => {
  globalThis.ImageData ??= class {
    constructor(width, height) {
      Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
    }
  };
  const { Volume } = await load('src/slices/volume.ts');
  // Axes swapped and one flipped: i runs along -y, j along x, k along z.
  const affine = [0, 1, 0, 10, -2, 0, 0, 20, 0, 0, 3, 30, 0, 0, 0, 1];
  const volume = new Volume([2, 3, 2], [2, 1, 3], affine, [[9.5, 17, 28.5], [12.5, 21, 34.5]]);
  assert.equal(volume.offsetAt(10, 20, 30), 0);
  assert.equal(volume.offsetAt(12, 18, 33), (1 * 3 + 2) * 2 + 1);
  assert.equal(volume.offsetAt(14, 20, 30), -1);
  const image = volume.slice(2, 30, (voxel, rgb, at) => rgb.fill(voxel + 1, at, at + 3));
  assert.deepEqual([image.width, image.height], [6, 8]);
  const at = (column, row) => image.data[4 * (row * image.width + column)];
  assert.equal(at(0, 0), 1, 'upper left: least x, largest y');
  assert.equal(at(5, 7), 6, 'lower right: i = 1, j = 2');
  assert.equal(at(0, 7), 2);
});

test('the isovalue begins between two kinds of voxels', async () => {
  const { greyRange, partingValue } = await load('src/surface/histogram.ts');
  const counts = new Uint32Array(256);
  counts[10] = 900;
  counts[12] = 100;
  counts[200] = 300;
  const value = partingValue({ counts, low: 0, high: 256 });
  assert.ok(Math.abs(value - 106) < 2, `${value} is in the middle of the gap`);
  assert.deepEqual(greyRange({ counts, low: 0, high: 256 }), [10, 201]);
});

test('a mesh meets a slice in segments', async () => {
  const { section } = await load('src/slices/volume.ts');
  const mesh = {
    points: new Float32Array([0, 0, 0, 2, 0, 0, 0, 0, 2]),
    triangles: new Uint32Array([0, 1, 2]),
  };
  assert.deepEqual([...section(mesh, 2, 1)], [1, 0, 1, 0, 0, 1]);
  assert.equal(section(mesh, 2, 3).length, 0);
  assert.equal(section(mesh, 1, 0).length, 0, 'a triangle in the slice has no segment of its own');
});

test('particles are discs on the surface, and a ray picks the one in front', async () => {
  const { discs, pickParticle } = await load('src/surface/particles.ts');
  const particles = {
    points: new Float32Array([0, 0, 1, 0, 0, -1, 5, 0, 0]),
    normals: new Float32Array([0, 0, 1, 0, 0, -1, 1, 0, 0]),
    sizes: new Float32Array([1, 1, 2]),
  };
  const { points, triangles, normals } = discs(particles);
  assert.equal(triangles.length, 3 * 4 * 3);
  assert.equal(points.length, normals.length);
  for (let v = 0; v < 6; ++v) {
    assert.equal(points[3 * v + 2], 1, 'in the tangent plane');
    assert.ok(Math.abs(Math.hypot(points[3 * v], points[3 * v + 1]) - 0.42) < 1e-6);
  }
  const [a, b, c] = [0, 1, 2].map((k) => points.subarray(3 * triangles[k], 3 * triangles[k] + 3));
  assert.ok((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0, 'it faces outward');
  assert.deepEqual(pickParticle(particles, { origin: [0.1, 0, 9], direction: [0, 0, -1] }), [0, 0, 1]);
  assert.equal(pickParticle(particles, { origin: [3, 0, 9], direction: [0, 0, -1] }), null);
});

test('a state of a volume keeps its brush, and odd values are left out', async () => {
  const { defaultSurfaceModel, readSurfaceState, surfaceRequest, writeState } = await surfaceModel();
  const data = { name: 'ct.nii.gz', kind: 'volume', spacing: [1, 1, 2], bounds: box };
  const model = defaultSurfaceModel(data, 50);
  model.strokes.push({ points: [[1, 2, 3], [4, 5, 6]], radius: 3, factor: 0.5 });
  model.coloring = 'quality';
  model.started = true;
  const usual = defaultSurfaceModel(data, 7);
  assert.deepEqual(readSurfaceState(writeState(data, camera, model), usual), { model, camera });
  assert.deepEqual(surfaceRequest(model).brush[1], { point: [4, 5, 6], radius: 3, factor: 0.5 });
  assert.equal(surfaceRequest({ ...model, uniform: 2 }).epsilon, undefined);
  const odd = { what: 'isochron view state', kind: 'volume', epsilon: -1, strokes: [null, { radius: 0 }], brush: 4 };
  assert.deepEqual(readSurfaceState(JSON.stringify(odd), usual).model, usual);
  assert.throws(() => readSurfaceState('{"what": "isochron view state"}', usual), /no state of a volume/);
});

test('of a label map the object is a label that the map has', async () => {
  const { defaultSurfaceModel, readSurfaceState, surfaceRequest, writeState } = await surfaceModel();
  const labels = [0, 3, 7].map((value) => ({ value, voxels: [900, 10, 20][[0, 3, 7].indexOf(value)] }));
  const data = { name: 'map.nii.gz', kind: 'volume', bounds: box, labels };
  const usual = defaultSurfaceModel(data, 2.5);
  assert.deepEqual([usual.by, usual.label], ['label', 7], 'the largest one that is not 0');
  assert.equal(surfaceRequest(usual).label, 7);
  assert.equal(surfaceRequest(usual).isovalue, undefined);
  assert.equal(surfaceRequest({ ...usual, by: 'isovalue' }).label, undefined);
  const chosen = writeState(data, camera, { ...usual, label: 3 });
  assert.equal(readSurfaceState(chosen, usual, labels).model.label, 3);
  const other = { ...usual, by: 'isovalue', label: 0 };
  assert.deepEqual(readSurfaceState(chosen, other, []).model, other, 'a map without that label');
});

test('surfaces of equal time are at the front or at the isochrones', async () => {
  const { surfaceTimes } = await load('src/mesh/model.ts');
  const { pointLevels, surfacesUntil } = await load('src/mesh/answers.ts');
  const model = { inside: '', moment: null, sources: [{ time: 1 }, { time: 4 }] };
  const arrival = { lines: new Float32Array([2, 2, 4, 6]), maxTime: 9 };
  assert.deepEqual(surfaceTimes(model, arrival), []);
  assert.deepEqual(surfaceTimes({ ...model, inside: 'front' }, arrival), [5], 'half way');
  assert.deepEqual(surfaceTimes({ ...model, inside: 'front', moment: 3 }, arrival), [3]);
  assert.deepEqual(surfaceTimes({ ...model, inside: 'isochrones', moment: 3 }, arrival), [2, 4, 6]);
  const many = { lines: Float32Array.from({ length: 500 }, (_, i) => i), maxTime: 500 };
  assert.equal(surfaceTimes({ ...model, inside: 'isochrones' }, many).length, 100);

  const surfaces = {
    points: new Float32Array(18),
    triangles: new Uint32Array([3, 4, 5, 0, 1, 2]),
    levels: new Float32Array([7, 2]),
  };
  assert.equal(surfacesUntil(surfaces, null), surfaces);
  assert.deepEqual([...surfacesUntil(surfaces, 3).triangles], [0, 1, 2]);
  assert.deepEqual([...surfacesUntil(surfaces, 3).levels], [2]);
  assert.deepEqual([...pointLevels(surfaces)], [2, 2, 2, 7, 7, 7]);
});

test('a state of a tensor image keeps its pathways', async () => {
  const { defaultTensorModel, newPathway, readTensorState } = await load('src/tensor/tensor_model.ts');
  const { writeState } = await load('src/state_file.ts');
  const data = { name: 'dti.nii.gz', kind: 'tensors', bounds: box };
  const model = defaultTensorModel(data);
  model.pathways.push(newPathway(model));
  model.pathways[1].from = { point: [1, 2, 3], radius: 4 };
  model.pathways[1].epsilon = 0.2;
  model.active = 1;
  model.showGlyphs = true;
  assert.deepEqual(readTensorState(writeState(data, camera, model), data), { model, camera });
  assert.throws(() => readTensorState('{"what": "isochron view state"}', data), /no state of a tensor image/);
});

test('no file of the client imports itself by way of others', () => {
  const folder = resolve(dirname(fileURLToPath(import.meta.url)), '../src');
  const sources = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.ts'));
  const imports = new Map(
    sources.map((name) => {
      const path = join(folder, name);
      const named = [...readFileSync(path, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g)];
      return [path, named.map(([, to]) => `${resolve(dirname(path), to)}.ts`).filter((to) => existsSync(to))];
    }),
  );
  const done = new Set();
  const visit = (path, way) => {
    assert.ok(!way.includes(path), `a circle of imports: ${[...way, path].join(' -> ')}`);
    if (done.has(path)) return;
    for (const next of imports.get(path)) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  assert.ok([...imports.values()].flat().length > 100, 'imports are found');
});
