// The intersection of a mesh with a slice.
import type { Triangles } from '../mesh/drawn_mesh';
import type { Axis } from '../slices/volume';

/** The segments of the mesh in the plane across `axis` at `place`: 6 numbers each. */
export function section({ points, triangles }: Triangles, axis: Axis, place: number): Float32Array {
  const found: number[] = [];
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; ++k) {
      const a = 3 * triangles[t + k]!;
      const b = 3 * triangles[t + ((k + 1) % 3)]!;
      const [from, to] = [points[a + axis]! - place, points[b + axis]! - place];
      if (from < 0 === to < 0) continue;
      const share = from / (from - to);
      for (let d = 0; d < 3; ++d) found.push(points[a + d]! + share * (points[b + d]! - points[a + d]!));
    }
  }
  return Float32Array.from(found); // two crossings a triangle, or none
}
