// An image in its place in the world, and slices through it and through meshes along the world's axes.
import type { Triangles } from '../mesh/drawn_mesh';
import type { Vec3 } from '../types';

export type Axis = 0 | 1 | 2;
export const axes: readonly Axis[] = [0, 1, 2];

/** The world's axes that a slice shows, to the right and upwards; the slice lies across the third. */
export const sliceAxes: Record<Axis, readonly [Axis, Axis]> = { 0: [1, 2], 1: [0, 2], 2: [0, 1] };

/** Writes the colour of a voxel to rgb[at…]. */
export type Paint = (voxel: number, rgb: Uint8ClampedArray, at: number) => void;

/** At most so many pixels along a side of a slice. */
const maxPixels = 420;

export class Volume {
  private readonly inverse: number[];
  readonly step: number;

  /** `affine` takes voxel indices to the world, row by row. */
  constructor(
    readonly shape: Vec3,
    readonly spacing: Vec3,
    readonly affine: readonly number[],
    readonly bounds: [Vec3, Vec3],
  ) {
    this.inverse = invert(affine);
    const longest = Math.max(...bounds[1].map((high, k) => high - bounds[0][k as Axis]));
    this.step = Math.max(Math.min(...spacing) / 2, longest / maxPixels);
  }

  get smallestSpacing(): number {
    return Math.min(...this.spacing);
  }

  /** The place of the voxel around a point in arrays [nz, ny, nx]; -1 outside. */
  offsetAt(x: number, y: number, z: number): number {
    const m = this.inverse;
    const i = Math.round(m[0]! * x + m[1]! * y + m[2]! * z + m[3]!);
    const j = Math.round(m[4]! * x + m[5]! * y + m[6]! * z + m[7]!);
    const k = Math.round(m[8]! * x + m[9]! * y + m[10]! * z + m[11]!);
    const [nx, ny, nz] = this.shape;
    return i < 0 || j < 0 || k < 0 || i >= nx || j >= ny || k >= nz ? -1 : (k * ny + j) * nx + i;
  }

  /** The slice across `axis` at a place of it. What stays black is clear. */
  slice(axis: Axis, place: number, paint: Paint): ImageData {
    const [low, high] = this.bounds;
    const [u, v] = sliceAxes[axis];
    const width = Math.max(1, Math.round((high[u] - low[u]) / this.step));
    const height = Math.max(1, Math.round((high[v] - low[v]) / this.step));
    const image = new ImageData(width, height);
    const p: Vec3 = [0, 0, 0];
    p[axis] = place;
    for (let row = 0, at = 0; row < height; ++row) {
      p[v] = high[v] - (row + 0.5) * this.step;
      for (let column = 0; column < width; ++column, at += 4) {
        p[u] = low[u] + (column + 0.5) * this.step;
        const voxel = this.offsetAt(...p);
        if (voxel >= 0) paint(voxel, image.data, at);
        if (image.data[at]! + image.data[at + 1]! + image.data[at + 2]! > 0) image.data[at + 3] = 255;
      }
    }
    return image;
  }
}

/** The inverse of the first three rows of an affine matrix. */
function invert(m: readonly number[]): number[] {
  const [a = 0, b = 0, c = 0, x = 0, d = 0, e = 0, f = 0, y = 0, g = 0, h = 0, i = 0, z = 0] = m;
  const det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g);
  const n = [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ].map((q) => q / det);
  const back = (r: number) => -(n[r]! * x + n[r + 1]! * y + n[r + 2]! * z);
  return [n[0]!, n[1]!, n[2]!, back(0), n[3]!, n[4]!, n[5]!, back(3), n[6]!, n[7]!, n[8]!, back(6)];
}

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
