// The server's answers about a mesh, as the views use them.
import type { Pack } from '../pack';
import type { Vec3 } from '../types';

/** Polylines, and the time of each. */
function readLines(pack: Pack) {
  return { points: pack.floats('iso_points'), offsets: pack.ids('iso_offsets'), levels: pack.floats('iso_levels') };
}

/** Arrival times of one setting. */
export function readArrival(pack: Pack) {
  return {
    times: pack.floats('times'), // per vertex of the geometry
    unit: pack.units('times'),
    isochrones: pack.has('iso_points')
      ? readLines(pack)
      : { points: new Float32Array(), offsets: new Uint32Array(1), levels: new Float32Array() },
    spacing: pack.number('spacing', 0),
    maxTime: pack.number('max_time', 0),
    unreached: pack.number('unreached', 0),
    milliseconds: pack.number('milliseconds'),
    solveMilliseconds: pack.number('solve_milliseconds'),
    notes: pack.notes,
  };
}

export type Arrival = ReturnType<typeof readArrival>;

export function readPath(pack: Pack, target: Vec3) {
  return { target, points: pack.floats('points'), length: pack.number('length'), time: pack.number('time') };
}

export type Path = ReturnType<typeof readPath>;

export function readClipped(pack: Pack) {
  return {
    points: pack.floats('points'),
    triangles: pack.ids('triangles'),
    times: pack.has('times') ? pack.floats('times') : null, // null before there is an arrival
    isochrones: pack.has('iso_points') ? readLines(pack) : null,
  };
}

export type Clipped = ReturnType<typeof readClipped>;

/** Surfaces of equal time inside a volume, and the time of each triangle. */
export function readLevelSurfaces(pack: Pack) {
  return { points: pack.floats('points'), triangles: pack.ids('triangles'), levels: pack.floats('levels') };
}

export type LevelSurfaces = ReturnType<typeof readLevelSurfaces>;

/** Those whose time is not after a moment (null: all), without their points' being renumbered. */
export function surfacesUntil(surfaces: LevelSurfaces, moment: number | null): LevelSurfaces {
  if (moment === null) return surfaces;
  const kept: number[] = [];
  surfaces.levels.forEach((level, t) => level <= moment && kept.push(t));
  return {
    points: surfaces.points,
    triangles: Uint32Array.from({ length: 3 * kept.length }, (_, i) => {
      return surfaces.triangles[3 * kept[Math.floor(i / 3)]! + (i % 3)]!;
    }),
    levels: Float32Array.from(kept, (t) => surfaces.levels[t]!),
  };
}

/** The times of their points: each is on the surface of one time. */
export function pointLevels({ points, triangles, levels }: LevelSurfaces): Float32Array {
  const times = new Float32Array(points.length / 3);
  triangles.forEach((v, corner) => (times[v] = levels[Math.floor(corner / 3)]!));
  return times;
}

/** b - a where both are finite, else infinity. */
export function difference(a: Float32Array, b: Float32Array): { values: Float32Array; largest: number } {
  const values = new Float32Array(a.length);
  let largest = 0;
  for (let i = 0; i < a.length; ++i) {
    const d = b[i]! - a[i]!;
    values[i] = Number.isFinite(d) ? d : Infinity;
    if (Number.isFinite(d)) largest = Math.max(largest, Math.abs(d));
  }
  return { values, largest };
}
