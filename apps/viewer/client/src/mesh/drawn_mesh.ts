// The triangles as they are drawn: with normals, and with corners doubled along sharp edges.

/** Triangles as the server sends them. */
export interface Triangles {
  points: Float32Array; // 3 per vertex
  triangles: Uint32Array; // 3 per triangle
}

export interface DrawnMesh extends Triangles {
  normals: Float32Array;
  /** For each drawn vertex, the vertex it stands for. */
  vertexOf: Uint32Array;
}

/** Edges that bend more than this are drawn sharp. */
const sharp = Math.cos((40 * Math.PI) / 180);

/** Normals of the triangles, as long as twice their area, and their sums at the vertices; 3 numbers each. */
function areaNormals({ points, triangles }: Triangles): { areas: Float32Array; sums: Float32Array } {
  const areas = new Float32Array(triangles.length);
  const sums = new Float32Array(points.length);
  // Plain numbers, as in pick.ts: this is what the first view of a large mesh waits for.
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t]!;
    const b = 3 * triangles[t + 1]!;
    const c = 3 * triangles[t + 2]!;
    const ux = points[b]! - points[a]!;
    const uy = points[b + 1]! - points[a + 1]!;
    const uz = points[b + 2]! - points[a + 2]!;
    const vx = points[c]! - points[a]!;
    const vy = points[c + 1]! - points[a + 1]!;
    const vz = points[c + 2]! - points[a + 2]!;
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    areas[t] = x;
    areas[t + 1] = y;
    areas[t + 2] = z;
    sums[a]! += x;
    sums[a + 1]! += y;
    sums[a + 2]! += z;
    sums[b]! += x;
    sums[b + 1]! += y;
    sums[b + 2]! += z;
    sums[c]! += x;
    sums[c + 1]! += y;
    sums[c + 2]! += z;
  }
  return { areas, sums };
}

/** The length of the vector that begins at number i. */
const lengthAt = (a: Float32Array, i: number) => Math.sqrt(dotAt(a, i, a, i));

function normalize(normals: Float32Array): void {
  for (let i = 0; i < normals.length; i += 3) {
    const factor = 1 / (lengthAt(normals, i) || 1);
    normals[i]! *= factor;
    normals[i + 1]! *= factor;
    normals[i + 2]! *= factor;
  }
}

/** Corners by vertex: those of vertex v are corners[starts[v]] to corners[starts[v + 1]]. */
function cornersByVertex(triangles: Uint32Array, count: number): { starts: Uint32Array; corners: Uint32Array } {
  const starts = new Uint32Array(count + 1);
  for (const v of triangles) ++starts[v + 1]!;
  for (let v = 0; v < count; ++v) starts[v + 1]! += starts[v]!;
  const next = starts.slice(0, count);
  const corners = new Uint32Array(triangles.length);
  for (let i = 0; i < triangles.length; ++i) corners[next[triangles[i]!]!++] = i;
  return { starts, corners };
}

const dotAt = (a: Float32Array, i: number, b: Float32Array, j: number) =>
  a[i]! * b[j]! + a[i + 1]! * b[j + 1]! + a[i + 2]! * b[j + 2]!;
const triangleOf = (corner: number) => corner - (corner % 3);

/** Corners at vertices where some triangle bends away sharply from the others. */
function sharpCorners({ points, triangles }: Triangles, areas: Float32Array, smooth: Float32Array): number[] {
  const onEdge = new Uint8Array(points.length / 3);
  let some = false;
  for (let t = 0; t < triangles.length; t += 3) {
    const least = sharp * lengthAt(areas, t);
    for (let i = t; i < t + 3; ++i) {
      if (dotAt(smooth, 3 * triangles[i]!, areas, t) >= least) continue;
      onEdge[triangles[i]!] = 1;
      some = true;
    }
  }
  const corners: number[] = [];
  for (let i = 0; some && i < triangles.length; ++i) if (onEdge[triangles[i]!] === 1) corners.push(i);
  return corners;
}

/** Smooth normals. At a vertex on a sharp edge each corner is a vertex of its own, smoothed over its own side. */
export function drawnMesh(mesh: Triangles): DrawnMesh {
  const { points, triangles } = mesh;
  const count = points.length / 3;
  const { areas, sums: smooth } = areaNormals(mesh);
  normalize(smooth);
  const split = sharpCorners(mesh, areas, smooth);
  const vertexOf = new Uint32Array(count + split.length);
  for (let v = 0; v < count; ++v) vertexOf[v] = v;
  if (split.length === 0) return { points, triangles, normals: smooth, vertexOf };

  const corners = triangles.slice();
  const outPoints = new Float32Array(3 * vertexOf.length);
  const normals = new Float32Array(3 * vertexOf.length);
  outPoints.set(points);
  normals.set(smooth);
  const around = cornersByVertex(triangles, count);
  split.forEach((corner, k) => {
    const [v, at, own] = [triangles[corner]!, count + k, triangleOf(corner)];
    corners[corner] = at;
    vertexOf[at] = v;
    outPoints.set(points.subarray(3 * v, 3 * v + 3), 3 * at);
    for (let i = around.starts[v]!; i < around.starts[v + 1]!; ++i) {
      const other = triangleOf(around.corners[i]!);
      if (dotAt(areas, own, areas, other) < sharp * lengthAt(areas, own) * lengthAt(areas, other)) continue;
      for (let d = 0; d < 3; ++d) normals[3 * at + d]! += areas[other + d]!;
    }
  });
  normalize(normals.subarray(3 * count));
  return { points: outPoints, triangles: corners, normals, vertexOf };
}

/** Every corner a vertex of its own, so that values of triangles can be drawn without bleeding into their neighbours. */
export function separateTriangles(mesh: DrawnMesh): DrawnMesh {
  const corners = mesh.triangles;
  const points = new Float32Array(3 * corners.length);
  const normals = new Float32Array(3 * corners.length);
  const vertexOf = new Uint32Array(corners.length);
  const triangles = new Uint32Array(corners.length);
  for (let i = 0; i < corners.length; ++i) {
    const v = corners[i]!;
    points.set(mesh.points.subarray(3 * v, 3 * v + 3), 3 * i);
    normals.set(mesh.normals.subarray(3 * v, 3 * v + 3), 3 * i);
    vertexOf[i] = mesh.vertexOf[v]!;
    triangles[i] = i;
  }
  return { points, triangles, normals, vertexOf };
}
