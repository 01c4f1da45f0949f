// The camera as plain numbers: what is saved in a state file, and what all panes look through.
import type { Ray } from '../mesh/pick';
import type { Vec3 } from '../types';
import { add, cross, dot, norm, scale, sub, turned, unit } from '../vec';

export interface Camera {
  position: Vec3;
  focus: Vec3;
  up: Vec3;
}

/** How a pane looks through a camera. */
export interface Lens {
  /** Width over height of the pane. */
  aspect: number;
  /** Half the view's height over its distance. */
  slope: number;
}

const usualSlope = Math.tan((15 * Math.PI) / 180);

/** A pane that is narrower than the data sees further up and down, so that it still shows all of it. */
export function lensFor([low, high]: [Vec3, Vec3], aspect: number): Lens {
  const [x, y, z] = sub(high, low);
  const wide = Math.max(x, y);
  const narrow = z > 0 ? wide / Math.hypot(z, 0.3 * wide) : x / y;
  const needed = Math.min(Math.max(Number.isFinite(narrow) ? narrow : 1, 0.2), 1);
  return { aspect, slope: usualSlope * Math.max(1, needed / aspect) };
}

/** The angle a pane sees from bottom to top, in degrees. */
export function viewAngle({ slope }: Lens): number {
  return (360 / Math.PI) * Math.atan(slope);
}

/** From in front and a little above. */
export const usualDirection: Vec3 = unit([0.45, -1, 0.3]);

/** Sees the whole box from a direction, with z up. */
export function cameraFor([low, high]: [Vec3, Vec3], direction: Vec3 = usualDirection): Camera {
  const focus = scale(add(low, high), 0.5);
  const radius = Math.max(norm(sub(high, low)) / 2, 1e-6);
  const flat = high[2] - low[2] < 1e-6 * radius; // a surface in the plane is seen from above
  const from: Vec3 = flat ? [0, 0, 1] : direction;
  const camera: Camera = { position: add(focus, from), focus, up: flat ? [0, 1, 0] : [0, 0, 1] };
  const [right, up] = frame(camera);
  let distance = 0;
  for (let corner = 0; corner < 8; ++corner) {
    const at: Vec3 = [corner & 1 ? high[0] : low[0], corner & 2 ? high[1] : low[1], corner & 4 ? high[2] : low[2]];
    const out = sub(at, focus);
    const reach = Math.max(Math.abs(dot(out, right)), Math.abs(dot(out, up)));
    distance = Math.max(distance, dot(out, from) + reach / (0.92 * usualSlope));
  }
  return { ...camera, position: add(focus, scale(from, Math.max(distance, radius * 1e-3))) };
}

/** Right, up and forward. */
export function frame({ position, focus, up }: Camera): [Vec3, Vec3, Vec3] {
  const forward = unit(sub(focus, position));
  const right = unit(cross(forward, up));
  return [right, cross(right, forward), forward];
}

/** Turns about the focus: `x` and `y` in radians, to the right and up. */
export function orbit(camera: Camera, x: number, y: number): Camera {
  const [right, up] = frame(camera);
  const turn = (a: Vec3) => turned(turned(a, up, -x), right, -y);
  return { focus: camera.focus, position: add(camera.focus, turn(sub(camera.position, camera.focus))), up: turn(up) };
}

/** Moves the scene with the pointer; `x` and `y` in sizes of the view (see sizeAt). */
export function pan(camera: Camera, lens: Lens, x: number, y: number): Camera {
  const [right, up] = frame(camera);
  const size = sizeAt(camera, lens, camera.focus);
  const by = add(scale(right, -x * size), scale(up, -y * size));
  return { position: add(camera.position, by), focus: add(camera.focus, by), up: camera.up };
}

export function zoom(camera: Camera, factor: number): Camera {
  const back = scale(sub(camera.position, camera.focus), 1 / factor);
  return { ...camera, position: add(camera.focus, back) };
}

/** The ray through a place of the pane, both coordinates from -1 (left, bottom) to 1. */
export function rayThrough(camera: Camera, { aspect, slope }: Lens, x: number, y: number): Ray {
  const [right, up, forward] = frame(camera);
  const direction = unit(add(forward, add(scale(right, x * slope * aspect), scale(up, y * slope))));
  return { origin: camera.position, direction };
}

/** Where a point is seen, as rayThrough takes it; null behind the eye. */
export function seenAt(camera: Camera, { aspect, slope }: Lens, point: Vec3): [number, number] | null {
  const [right, up, forward] = frame(camera);
  const from = sub(point, camera.position);
  const depth = dot(from, forward);
  if (depth <= 0) return null;
  const reach = depth * slope;
  return [dot(from, right) / (reach * aspect), dot(from, up) / reach];
}

/** The smaller of the view's width and height at a point's distance. */
export function sizeAt(camera: Camera, { aspect, slope }: Lens, point: Vec3): number {
  return 2 * slope * Math.min(1, aspect) * norm(sub(point, camera.position));
}
