// What the user has chosen in the surface mode; also its state file.
import { isNumber, isVec3, parseState } from '../state_file';
import type { DataSet, LabelInfo, Vec3 } from '../types';
import type { Camera } from '../view/camera';

/** One drag of the brush: places where edges are to be `factor` times as long. */
export interface Stroke {
  points: Vec3[];
  radius: number;
  factor: number;
}

export interface SurfaceModel {
  /** What the object is: where values are on one side of the isovalue, or all voxels with the label. */
  by: 'isovalue' | 'label';
  label: number;
  isovalue: number;
  inside: 'above' | 'below';
  epsilon: number;
  delta: number;
  /** The same edge length everywhere; 0: as epsilon and delta say. */
  uniform: number;
  strokes: Stroke[];
  /** What the next stroke has. */
  brush: { radius: number; factor: number };
  coloring: 'plain' | 'quality' | 'size';
  showEdges: boolean;
  showSlices: boolean;
  crosshair: Vec3;
  /** A surface was asked for: it is made again when the state is opened. */
  started: boolean;
}

/** The server takes no more places of the brush than this. */
export const maxPlaces = 500;

export const limits = { epsilon: [0.1, 2], delta: [0.05, 1], factor: [0.1, 4] } as const;

/** The label with the most voxels but for 0, which mostly stands for nothing. */
function largestLabel(labels: readonly LabelInfo[]): number {
  const [first] = labels.filter(({ value }) => value !== 0).sort((a, b) => b.voxels - a.voxels);
  return first?.value ?? 0;
}

export function defaultSurfaceModel({ bounds, spacing, labels }: DataSet, isovalue: number): SurfaceModel {
  const [low, high] = bounds;
  return {
    by: labels ? 'label' : 'isovalue',
    label: largestLabel(labels ?? []),
    isovalue,
    inside: 'above',
    epsilon: 0.5,
    delta: 0.3,
    uniform: 0,
    strokes: [],
    brush: { radius: 6 * Math.min(...(spacing ?? [1, 1, 1])), factor: 0.5 },
    coloring: 'plain',
    showEdges: true,
    showSlices: false,
    crosshair: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2],
    started: false,
  };
}

/** What the server is asked for; equal texts of it mean equal surfaces. */
export function surfaceRequest(model: SurfaceModel): object {
  const { by, label, isovalue, inside, epsilon, delta, uniform, strokes } = model;
  const brush = strokes.flatMap(({ points, radius, factor }) => points.map((point) => ({ point, radius, factor })));
  const object = by === 'label' ? { label } : { isovalue, inside };
  return { ...object, brush, ...(uniform > 0 ? { uniform } : { epsilon, delta }) };
}

export function placeCount(strokes: readonly Stroke[]): number {
  return strokes.reduce((count, { points }) => count + points.length, 0);
}

function readStroke(value: unknown): Stroke[] {
  const { points, radius, factor } = (value ?? {}) as Partial<Record<keyof Stroke, unknown>>;
  if (!Array.isArray(points) || !isNumber(radius) || !isNumber(factor) || radius <= 0 || factor <= 0) return [];
  const places = points.filter(isVec3);
  return places.length > 0 ? [{ points: places, radius, factor }] : [];
}

/** Reads a state file; what it leaves out stays as `otherwise` has it. Throws an Error that says what is wrong. */
export function readSurfaceState(
  text: string,
  otherwise: SurfaceModel,
  labels: readonly LabelInfo[] = [],
): { model: SurfaceModel; camera: Camera | null } {
  const { raw, camera } = parseState(text, 'a volume in isochron view', 'volume');
  const model: SurfaceModel = { ...otherwise, strokes: [] };
  const isLabel = labels.some(({ value }) => value === raw['label']);
  if (isLabel) model.label = raw['label'] as number;
  if (raw['by'] === 'isovalue' || (raw['by'] === 'label' && isLabel)) model.by = raw['by'];
  if (isNumber(raw['isovalue'])) model.isovalue = raw['isovalue'];
  if (raw['inside'] === 'above' || raw['inside'] === 'below') model.inside = raw['inside'];
  for (const key of ['epsilon', 'delta'] as const) {
    const value = raw[key];
    if (isNumber(value) && value > 0) model[key] = value;
  }
  if (isNumber(raw['uniform']) && raw['uniform'] >= 0) model.uniform = raw['uniform'];
  if (Array.isArray(raw['strokes'])) model.strokes = raw['strokes'].flatMap(readStroke);
  const [next] = readStroke({ ...(raw['brush'] as object | null), points: [[0, 0, 0]] });
  if (next !== undefined) model.brush = { radius: next.radius, factor: next.factor };
  if (raw['coloring'] === 'plain' || raw['coloring'] === 'quality' || raw['coloring'] === 'size')
    model.coloring = raw['coloring'];
  for (const key of ['showEdges', 'showSlices', 'started'] as const) {
    if (typeof raw[key] === 'boolean') model[key] = raw[key];
  }
  if (isVec3(raw['crosshair'])) model.crosshair = raw['crosshair'];
  return { model, camera };
}
