// Particles as small discs that lie on the surface, and which of them a ray hits.
import { colorMap } from '../color_map';
import type { Ray } from '../mesh/pick';
import type { Pack } from '../pack';
import type { Vec3 } from '../types';
import { add, cross, scale, unit } from '../vec';
import type { Shape } from '../view/layers';

export function readParticles(pack: Pack) {
  return {
    points: pack.floats('points'),
    normals: pack.floats('normals'),
    sizes: pack.floats('sizes'), // edge length wanted at each
    iteration: pack.number('iteration', 0),
    energy: pack.number('energy'),
  };
}

export type Particles = ReturnType<typeof readParticles>;

const colors = colorMap(256);

export function sizeRange(sizes: Float32Array): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const size of sizes) {
    low = Math.min(low, size);
    high = Math.max(high, size);
  }
  return low <= high ? [low, high] : [0, 0];
}

/** The colour of each of some values, from `low` to `high`: 3 numbers each. */
export function valueColors(values: ArrayLike<number>, low: number, high: number): Uint8Array {
  const out = new Uint8Array(3 * values.length);
  const span = high > low ? high - low : 1;
  for (let i = 0; i < values.length; ++i) {
    const place = Math.min(Math.max((values[i]! - low) / span, 0), 1);
    out.set(colors[Math.round(255 * place)]!, 3 * i);
  }
  return out;
}

/** Neighbours are one size apart: discs of this share of it do not touch. */
const discShare = 0.42;
/** More particles than this are drawn with three corners instead of six. */
const manyParticles = 60_000;

/** A disc for each particle, coloured by its size. */
export function discs({ points, normals, sizes }: Particles): Shape {
  const count = sizes.length;
  const corners = count > manyParticles ? 3 : 6;
  const outPoints = new Float32Array(3 * corners * count);
  const outNormals = new Float32Array(3 * corners * count);
  const triangles = new Uint32Array(3 * (corners - 2) * count);
  const values = new Float32Array(corners * count);
  const angles = Array.from({ length: corners }, (_, c) => (2 * Math.PI * c) / corners);
  let at = 0;
  for (let i = 0; i < count; ++i) {
    const center: Vec3 = [points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!];
    const normal = unit([normals[3 * i]!, normals[3 * i + 1]!, normals[3 * i + 2]!]);
    const u = unit(cross(normal, Math.abs(normal[0]) < 0.6 ? [1, 0, 0] : [0, 1, 0]));
    const v = cross(normal, u);
    const radius = discShare * sizes[i]!;
    angles.forEach((angle, c) => {
      const out = add(scale(u, radius * Math.cos(angle)), scale(v, radius * Math.sin(angle)));
      outPoints.set(add(center, out), 3 * (corners * i + c));
      outNormals.set(normal, 3 * (corners * i + c));
      values[corners * i + c] = sizes[i]!;
    });
    for (let c = 1; c + 1 < corners; ++c) {
      triangles[at++] = corners * i;
      triangles[at++] = corners * i + c;
      triangles[at++] = corners * i + c + 1;
    }
  }
  const colors = valueColors(values, ...sizeRange(sizes));
  return { points: outPoints, normals: outNormals, triangles, colors };
}

/** The particle that faces the eye and is nearest to it among those the ray passes within half an edge; or null. */
export function pickParticle({ points, normals, sizes }: Particles, { origin, direction }: Ray): Vec3 | null {
  let [best, nearest] = [-1, Infinity];
  const [dx, dy, dz] = direction;
  for (let i = 0; i < sizes.length; ++i) {
    const [nx, ny, nz] = [normals[3 * i]!, normals[3 * i + 1]!, normals[3 * i + 2]!];
    if (nx * dx + ny * dy + nz * dz >= 0) continue;
    const x = points[3 * i]! - origin[0];
    const y = points[3 * i + 1]! - origin[1];
    const z = points[3 * i + 2]! - origin[2];
    const along = x * dx + y * dy + z * dz;
    if (along <= 0 || along >= nearest) continue;
    if (Math.hypot(x - along * dx, y - along * dy, z - along * dz) > 0.6 * sizes[i]!) continue;
    [best, nearest] = [i, along];
  }
  return best < 0 ? null : [points[3 * best]!, points[3 * best + 1]!, points[3 * best + 2]!];
}
