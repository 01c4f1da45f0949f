// What the user has chosen in the tensor mode and what the server has found for it; also its state file.
import type { Color } from '../color_map';
import type { Pack } from '../pack';
import { isNumber, isVec3, parseState } from '../state_file';
import type { DataSet, Vec3 } from '../types';
import type { Camera } from '../view/camera';
import type { Shape } from '../view/layers';

export interface Region {
  point: Vec3;
  radius: number;
}

export interface Pathway {
  name: string;
  color: Color;
  from: Region | null;
  to: Region | null;
  alpha: number;
  epsilon: number;
}

export interface TensorModel {
  crosshair: Vec3;
  background: 'fa' | 'direction';
  pathways: Pathway[];
  /** The one that clicks and sliders change. */
  active: number;
  showSurface: boolean;
  showTube: boolean;
  showGlyphs: boolean;
  showSlices: boolean;
  /** What the 3-D view shows as fog. */
  fog: '' | 'fa' | 'cost';
}

/** Colours that most colour-blind people tell apart (after M. Okabe and K. Ito). */
const colors: readonly Color[] = [
  [230, 159, 0],
  [86, 180, 233],
  [0, 158, 115],
  [240, 228, 66],
  [213, 94, 0],
  [204, 121, 167],
];

export function newPathway(model: TensorModel): Pathway {
  const used = new Set(model.pathways.map((p) => p.name));
  let number = model.pathways.length + 1;
  while (used.has(`Pathway ${number}`)) ++number;
  const color = colors[(number - 1) % colors.length]!;
  return { name: `Pathway ${number}`, color, from: null, to: null, alpha: 3, epsilon: 0.05 };
}

export function defaultTensorModel({ bounds: [low, high] }: DataSet): TensorModel {
  const model: TensorModel = {
    crosshair: [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2],
    background: 'direction',
    pathways: [],
    active: 0,
    showSurface: true,
    showTube: true,
    showGlyphs: false,
    showSlices: true,
    fog: '',
  };
  model.pathways.push(newPathway(model));
  return model;
}

function readRegion(value: unknown): Region | null {
  const { point, radius } = (value ?? {}) as Partial<Region>;
  return isVec3(point) && isNumber(radius) && radius >= 0 ? { point, radius } : null;
}

/** Reads a state file; what it leaves out stays at the default. Throws an Error that says what is wrong. */
export function readTensorState(text: string, data: DataSet): { model: TensorModel; camera: Camera | null } {
  const { raw, camera } = parseState(text, 'a tensor image in isochron view', 'tensors');
  const model = defaultTensorModel(data);
  if (isVec3(raw['crosshair'])) model.crosshair = raw['crosshair'];
  if (raw['background'] === 'fa') model.background = 'fa';
  if (raw['fog'] === 'fa' || raw['fog'] === 'cost') model.fog = raw['fog'];
  const pathways = Array.isArray(raw['pathways']) ? (raw['pathways'] as (Partial<Pathway> | null)[]) : [];
  const read = pathways.flatMap((given, i) => {
    if (given === null || typeof given.name !== 'string') return [];
    const usual = { ...newPathway(model), color: colors[i % colors.length]! };
    const alpha = isNumber(given.alpha) && given.alpha > 0 ? given.alpha : usual.alpha;
    const epsilon = isNumber(given.epsilon) && given.epsilon >= 0 ? given.epsilon : usual.epsilon;
    const color = isVec3(given.color) ? given.color : usual.color;
    return [
      { name: given.name.slice(0, 60), color, from: readRegion(given.from), to: readRegion(given.to), alpha, epsilon },
    ];
  });
  if (read.length > 0) model.pathways = read;
  if (isNumber(raw['active']))
    model.active = Math.min(Math.max(Math.round(raw['active']), 0), model.pathways.length - 1);
  for (const key of ['showSurface', 'showTube', 'showGlyphs', 'showSlices'] as const) {
    if (typeof raw[key] === 'boolean') model[key] = raw[key];
  }
  return { model, camera };
}

export function readShape(pack: Pack, prefix: string): Shape {
  const colors = pack.has(`${prefix}colors`) ? pack.bytes(`${prefix}colors`) : null;
  return {
    points: pack.floats(`${prefix}points`),
    normals: pack.floats(`${prefix}normals`),
    triangles: pack.ids(`${prefix}triangles`),
    colors,
  };
}

/** What the server has found for a pathway. */
export function readFound(pack: Pack) {
  return {
    cost: pack.number('cost'),
    length: pack.number('length'),
    meanFa: pack.number('mean_fa'),
    voxels: pack.number('voxels'),
    volume: pack.number('volume'),
    milliseconds: pack.number('milliseconds'),
    solveMilliseconds: pack.number('solve_milliseconds'),
    notes: pack.notes,
    path: pack.floats('path'),
    profile: {
      distance: pack.floats('profile_distance'),
      fa: pack.floats('profile_fa'),
      cost: pack.floats('profile_cost'),
    },
    tube: readShape(pack, 'tube_'),
    surface: readShape(pack, 'pathway_'),
    glyphs: null as Shape | null,
  };
}

export type Found = ReturnType<typeof readFound>;
