// What the user has chosen: the whole state of the mesh mode as plain data, which is also the state file.
import { isNumber, isVec3, parseState } from '../state_file';
import type { DataSet, Vec3 } from '../types';
import type { Camera } from '../view/camera';

export type SlotName = 'a' | 'b';

export interface Source {
  point: Vec3;
  time: number;
}

export interface Setting {
  /** Where speeds come from: one number, an array, or fibres with speeds along and across. */
  kind: 'constant' | 'array' | 'fibers';
  speed: number;
  array: string;
  fibers: string;
  along: number;
  across: number;
  /** Speeds of regions, by region; null when regions are not distinguished. */
  regions: Record<string, number> | null;
}

/** Which surfaces of equal time are drawn inside a volume: none, the front, or one for each isochrone. */
export type Inside = '' | 'front' | 'isochrones';

export type Compare = 'off' | 'ab' | 'difference';

export interface Model {
  sources: Source[];
  /** The index of the source that keys and clicks move; -1 for none. */
  selected: number;
  settings: Record<SlotName, Setting>;
  compare: Compare;
  targets: Vec3[];
  /** Between isochrones; 0 for a spacing that suits the times. */
  spacing: number;
  showIsochrones: boolean;
  inside: Inside;
  showFibers: string;
  /** What the surface shows: "" for arrival times, else "points/NAME" or "cells/NAME". */
  coloring: string;
  timeUnit: string;
  /** What lies on the normal's side is taken away; the offset runs from 0 to 1 across the data. */
  clip: { on: boolean; normal: Vec3; offset: number };
  /** The moment of the front; null for all times. */
  moment: number | null;
}

export function defaultSetting(data: DataSet): Setting {
  const fibers = data.fibers[0] ?? '';
  return {
    kind: fibers === '' ? 'constant' : 'fibers',
    speed: 1,
    array: speedArrays(data)[0] ?? '',
    fibers,
    along: 0.6,
    across: 0.3,
    regions: null,
  };
}

export function defaultModel(data: DataSet): Model {
  return {
    sources: [],
    selected: -1,
    settings: { a: defaultSetting(data), b: defaultSetting(data) },
    compare: 'off',
    targets: [],
    spacing: 0,
    showIsochrones: true,
    inside: '',
    showFibers: '',
    coloring: '',
    timeUnit: '',
    clip: { on: false, normal: [0, -1, 0], offset: 0.5 },
    moment: null,
  };
}

/** Arrays with one positive number, which can serve as speed. */
export function speedArrays(data: DataSet): string[] {
  return data.arrays.filter((a) => a.components === 1 && a.low !== null && a.low > 0).map((a) => a.name);
}

/** The part of a solve request that a setting decides. Along fibres, all regions have the same ratio of speeds. */
export function speedRequest(setting: Setting, data: DataSet): object {
  if (setting.kind === 'array' && setting.array !== '') return { speed_array: setting.array };
  const fibers = setting.kind === 'fibers' && setting.fibers !== '';
  const ratio = setting.across / setting.along;
  const whole = fibers
    ? { fibers: { array: setting.fibers, velocity: [setting.along, setting.across] } }
    : { speed: setting.speed };
  if (setting.regions === null || data.regions === null) return whole;
  // A state file may be of a mesh with other regions.
  const known = new Set(data.regions.values.map(String));
  const speeds = Object.entries(setting.regions)
    .filter(([region]) => known.has(region))
    .map(([region, v]) => [region, fibers ? [v, v * ratio] : v]);
  return { ...whole, regions: { array: data.regions.array, speeds: Object.fromEntries(speeds) as object } };
}

export function slotsOf(compare: Compare): SlotName[] {
  return compare === 'off' ? ['a'] : ['a', 'b'];
}

/** The server draws no more surfaces of equal time at once. */
const maxSurfaces = 100;

/**
 * The times whose surfaces are drawn inside a volume, of an arrival with isochrones at `lines`. While all times are shown
 * the front is half way.
 */
export function surfaceTimes(
  { inside, moment, sources }: Model,
  { lines, maxTime }: { lines: Float32Array; maxTime: number },
): number[] {
  if (inside === '') return [];
  if (inside === 'front') return [moment ?? (Math.min(...sources.map(({ time }) => time)) + maxTime) / 2];
  const times = [...new Set(lines)];
  const each = Math.ceil(times.length / maxSurfaces);
  return times.filter((_, i) => i % each === 0);
}

function readSetting(value: unknown, otherwise: Setting): Setting {
  const from = (value ?? {}) as Partial<Setting>;
  const positive = (n: unknown, other: number) => (isNumber(n) && n > 0 ? n : other);
  const text = (s: unknown, other: string) => (typeof s === 'string' ? s : other);
  const regions =
    from.regions !== null && typeof from.regions === 'object'
      ? Object.fromEntries(Object.entries(from.regions).filter(([, speed]) => isNumber(speed) && speed > 0))
      : null;
  return {
    kind: from.kind === 'array' || from.kind === 'fibers' || from.kind === 'constant' ? from.kind : otherwise.kind,
    speed: positive(from.speed, otherwise.speed),
    array: text(from.array, otherwise.array),
    fibers: text(from.fibers, otherwise.fibers),
    along: positive(from.along, otherwise.along),
    across: positive(from.across, otherwise.across),
    regions,
  };
}

/** Reads a state file; what it leaves out stays at the default. Throws an Error that says what is wrong. */
export function readStateFile(text: string, data: DataSet): { model: Model; camera: Camera | null; from: string } {
  const { raw, camera } = parseState(text, 'isochron view');
  const model = defaultModel(data);
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  model.sources = list(raw['sources']).flatMap((item) => {
    const { point, time } = (item ?? {}) as { point?: unknown; time?: unknown };
    return isVec3(point) ? [{ point, time: isNumber(time) ? time : 0 }] : [];
  });
  model.selected = model.sources.length - 1;
  const settings = (raw['settings'] ?? {}) as Partial<Record<SlotName, unknown>>;
  model.settings.a = readSetting(settings.a, model.settings.a);
  model.settings.b = readSetting(settings.b, model.settings.b);
  if (raw['compare'] === 'ab' || raw['compare'] === 'difference') model.compare = raw['compare'];
  model.targets = list(raw['targets']).filter(isVec3);
  if (isNumber(raw['spacing']) && raw['spacing'] >= 0) model.spacing = raw['spacing'];
  if (typeof raw['showIsochrones'] === 'boolean') model.showIsochrones = raw['showIsochrones'];
  if (data.tets > 0 && (raw['inside'] === 'front' || raw['inside'] === 'isochrones')) model.inside = raw['inside'];
  if (data.fibers.includes(raw['showFibers'] as string)) model.showFibers = raw['showFibers'] as string;
  if (data.arrays.some((a) => `${a.on}/${a.name}` === raw['coloring'])) model.coloring = raw['coloring'] as string;
  if (typeof raw['timeUnit'] === 'string') model.timeUnit = raw['timeUnit'].slice(0, 20);
  const clip = (raw['clip'] ?? {}) as Partial<Model['clip']>;
  if (isVec3(clip.normal) && isNumber(clip.offset)) {
    model.clip = { on: clip.on === true, normal: clip.normal, offset: Math.min(Math.max(clip.offset, 0), 1) };
  }
  if (isNumber(raw['moment'])) model.moment = raw['moment'];
  return { model, camera, from: String(raw['data'] ?? '') };
}
