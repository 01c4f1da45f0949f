// Where does a ray from the eye meet the surface?
import type { Vec3 } from '../types';
import type { Triangles } from './drawn_mesh';

export interface Ray {
  origin: Vec3;
  direction: Vec3;
}

export interface Hit {
  point: Vec3;
  triangle: number;
  /** Weights of the triangle's corners. */
  weights: Vec3;
  distance: number;
}

/**
 * The first triangle along the ray (Moeller and Trumbore, 1997), or null. Every triangle is tried: a million take some
 * 10 ms, and there is no tree to rebuild when the surface is clipped.
 */
export function pick(mesh: Triangles, { origin, direction }: Ray): Hit | null {
  const { points: p, triangles } = mesh;
  const [ox, oy, oz] = origin;
  const [dx, dy, dz] = direction;
  let best: Hit | null = null;
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
    const [ax, ay, az] = [p[a]!, p[a + 1]!, p[a + 2]!];
    const [ux, uy, uz] = [p[b]! - ax, p[b + 1]! - ay, p[b + 2]! - az];
    const [vx, vy, vz] = [p[c]! - ax, p[c + 1]! - ay, p[c + 2]! - az];
    const [qx, qy, qz] = [dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx];
    const det = ux * qx + uy * qy + uz * qz;
    if (det === 0) continue;
    const [sx, sy, sz] = [ox - ax, oy - ay, oz - az];
    const wb = (sx * qx + sy * qy + sz * qz) / det;
    if (wb < 0 || wb > 1) continue;
    const [rx, ry, rz] = [sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux];
    const wc = (dx * rx + dy * ry + dz * rz) / det;
    if (wc < 0 || wb + wc > 1) continue;
    const distance = (vx * rx + vy * ry + vz * rz) / det;
    if (distance <= 0 || (best !== null && distance >= best.distance)) continue;
    best = {
      point: [ox + distance * dx, oy + distance * dy, oz + distance * dz],
      triangle: t / 3,
      weights: [1 - wb - wc, wb, wc],
      distance,
    };
  }
  return best;
}

/** The value at a hit, between its corners' values. */
export function valueAt(mesh: Triangles, values: Float32Array, hit: Hit): number {
  let value = 0;
  for (let k = 0; k < 3; ++k) value += hit.weights[k]! * values[mesh.triangles[3 * hit.triangle + k]!]!;
  return value;
}
