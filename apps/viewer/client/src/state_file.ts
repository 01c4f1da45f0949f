// What the state files of all modes have in common.
import type { DataSet, Vec3 } from './types';
import type { Camera } from './view/camera';

const mark = 'isochron view state';

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
export const isVec3 = (value: unknown): value is Vec3 =>
  Array.isArray(value) && value.length === 3 && value.every(isNumber);

/** The kind of the data is in it; meshes, which came first, have none. */
export function writeState(data: DataSet, camera: Camera, model: object): string {
  const kind = data.kind === 'mesh' ? undefined : data.kind;
  return JSON.stringify({ what: mark, version: 1, kind, data: data.name, camera, ...model }, null, 2) + '\n';
}

/** Throws an Error that says what is wrong; `what` names the kind of state, as "isochron view" or "a volume in …". */
export function parseState(text: string, what: string, kind?: 'tensors' | 'volume') {
  let raw: Record<string, unknown> | null;
  try {
    raw = JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    throw new Error('the file is no JSON; choose one that "Save state" has written');
  }
  if (raw === null || typeof raw !== 'object' || raw['what'] !== mark || (kind !== undefined && raw['kind'] !== kind)) {
    throw new Error(`the file is no state of ${what}; choose one that "Save state" has written`);
  }
  const camera = raw['camera'] as Partial<Camera> | undefined;
  const whole = camera !== undefined && isVec3(camera.position) && isVec3(camera.focus) && isVec3(camera.up);
  return { raw, camera: whole ? (camera as Camera) : null };
}
