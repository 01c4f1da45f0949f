// The intersection of a ray from the eye with the surface.
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
  // Plain numbers throughout: this loop runs millions of times, and small arrays in it would cost more than the sums.
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    const c = 3 * triangles[t + 2]!;
    const ax = p[a]!;
    const ay = p[a + 1]!;
    const az = p[a + 2]!;
    const ux = p[b]! - ax;
    const uy = p[b + 1]! - ay;
    const uz = p[b + 2]! - az;
    const vx = p[c]! - ax;
    const vy = p[c + 1]! - ay;
    const vz = p[c + 2]! - az;
    const qx = dy * vz - dz * vy;
    const qy = dz * vx - dx * vz;
    const qz = dx * vy - dy * vx;
    const det = ux * qx + uy * qy + uz * qz;
    if (det === 0) continue;
    const sx = ox - ax;
    const sy = oy - ay;
    const sz = oz - az;
    const wb = (sx * qx + sy * qy + sz * qz) / det;
    if (wb < 0 || wb > 1) continue;
    const rx = sy * uz - sz * uy;
    const ry = sz * ux - sx * uz;
    const rz = sx * uy - sy * ux;
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
