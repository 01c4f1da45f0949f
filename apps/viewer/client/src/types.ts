// The server's description of the data it has opened.

/** What has become of a file on disk since it was read. */
export type FileState = 'as read' | 'written' | 'deleted' | 'unreadable';

export type Vec3 = [number, number, number];

export interface ArrayInfo {
  name: string;
  on: 'points' | 'cells';
  components: number;
  low: number | null;
  high: number | null;
}

/** A label of a map, and how many voxels have it. */
export interface LabelInfo {
  value: number;
  voxels: number;
}

export interface DataSet {
  id: number;
  name: string;
  kind: 'mesh' | 'tensors' | 'volume';
  points: number;
  triangles: number;
  tets: number;
  bounds: [Vec3, Vec3];
  units: string;
  arrays: ArrayInfo[];
  solvable: boolean;
  why: string;
  fibers: string[];
  regions: { array: string; values: number[] } | null;
  warnings: string[];
  file: FileState;
  /** Of images: voxels, their size, and from voxel indices to the world, row by row. */
  shape?: Vec3;
  spacing?: Vec3;
  affine?: number[];
  /** Of volumes whose values are labels; null of others. */
  labels?: LabelInfo[] | null;
}

export interface ServerState {
  version: string;
  datasets: DataSet[];
}
