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

/** Normals of the triangles, as long as twice their area, 3 numbers per triangle. */
function areaNormals({ points, triangles }: Triangles): Float32Array {
  const normals = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t]!, 3 * triangles[t + 1]!, 3 * triangles[t + 2]!];
    const [ux, uy, uz] = [points[b]! - points[a]!, points[b + 1]! - points[a + 1]!, points[b + 2]! - points[a + 2]!];
    const [vx, vy, vz] = [points[c]! - points[a]!, points[c + 1]! - points[a + 1]!, points[c + 2]! - points[a + 2]!];
    normals[t] = uy * vz - uz * vy;
    normals[t + 1] = uz * vx - ux * vz;
    normals[t + 2] = ux * vy - uy * vx;
  }
  return normals;
}

function normalize(normals: Float32Array): void {
  for (let i = 0; i < normals.length; i += 3) {
    const length = Math.hypot(normals[i]!, normals[i + 1]!, normals[i + 2]!) || 1;
    normals[i]! /= length;
    normals[i + 1]! /= length;
    normals[i + 2]! /= length;
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

/** Smooth normals. At a vertex on a sharp edge each corner is a vertex of its own, smoothed over its own side. */
export function drawnMesh(mesh: Triangles): DrawnMesh {
  const { points, triangles } = mesh;
  const count = points.length / 3;
  const areas = areaNormals(mesh);
  const faces = areas.slice();
  normalize(faces);
  const smooth = new Float32Array(points.length);
  for (let i = 0; i < triangles.length; ++i) {
    for (let k = 0; k < 3; ++k) smooth[3 * triangles[i]! + k]! += areas[triangleOf(i) + k]!;
  }
  normalize(smooth);

  const onEdge = new Uint8Array(count);
  for (let i = 0; i < triangles.length; ++i) {
    if (dotAt(smooth, 3 * triangles[i]!, faces, triangleOf(i)) < sharp) onEdge[triangles[i]!] = 1;
  }
  const split: number[] = []; // corners
  for (let i = 0; i < triangles.length; ++i) if (onEdge[triangles[i]!] === 1) split.push(i);

  const corners = triangles.slice();
  const vertexOf = new Uint32Array(count + split.length);
  const outPoints = new Float32Array(3 * vertexOf.length);
  const normals = new Float32Array(3 * vertexOf.length);
  outPoints.set(points);
  normals.set(smooth);
  for (let v = 0; v < count; ++v) vertexOf[v] = v;
  const around = split.length > 0 ? cornersByVertex(triangles, count) : null;
  split.forEach((corner, k) => {
    const [v, at] = [triangles[corner]!, count + k];
    corners[corner] = at;
    vertexOf[at] = v;
    outPoints.set(points.subarray(3 * v, 3 * v + 3), 3 * at);
    for (let i = around!.starts[v]!; i < around!.starts[v + 1]!; ++i) {
      const other = triangleOf(around!.corners[i]!);
      if (dotAt(faces, triangleOf(corner), faces, other) < sharp) continue;
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
