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

/** Unit normals of the triangles times twice their area, 3 per triangle. */
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

/** Smooth normals; a corner whose triangle bends away from its vertex's mean normal gets a vertex of its own. */
export function drawnMesh(mesh: Triangles): DrawnMesh {
  const { points, triangles } = mesh;
  const count = points.length / 3;
  const faces = areaNormals(mesh);
  const smooth = new Float32Array(points.length);
  for (let i = 0; i < triangles.length; ++i) {
    const [v, t] = [3 * triangles[i]!, i - (i % 3)];
    smooth[v]! += faces[t]!;
    smooth[v + 1]! += faces[t + 1]!;
    smooth[v + 2]! += faces[t + 2]!;
  }
  normalize(smooth);
  normalize(faces);

  const corners = new Uint32Array(triangles);
  const split: number[] = []; // indices into `corners`
  for (let i = 0; i < corners.length; ++i) {
    const [v, t] = [3 * corners[i]!, i - (i % 3)];
    if (smooth[v]! * faces[t]! + smooth[v + 1]! * faces[t + 1]! + smooth[v + 2]! * faces[t + 2]! < sharp) split.push(i);
  }

  const vertexOf = new Uint32Array(count + split.length);
  const outPoints = new Float32Array(3 * vertexOf.length);
  const normals = new Float32Array(3 * vertexOf.length);
  outPoints.set(points);
  normals.set(smooth);
  for (let v = 0; v < count; ++v) vertexOf[v] = v;
  split.forEach((corner, k) => {
    const [v, t] = [triangles[corner]!, corner - (corner % 3)];
    vertexOf[count + k] = v;
    outPoints.set(points.subarray(3 * v, 3 * v + 3), 3 * (count + k));
    normals.set(faces.subarray(t, t + 3), 3 * (count + k));
    corners[corner] = count + k;
  });
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
