// The camera as plain numbers: what is saved in a state file, and what all panes look through.
import type { Ray } from '../mesh/pick';
import type { Vec3 } from '../types';
import { add, cross, dot, norm, scale, sub, turned, unit } from '../vec';

export interface Camera {
  position: Vec3;
  focus: Vec3;
  up: Vec3;
}

/** Height of the view, in degrees. */
export const viewAngle = 30;
const slope = Math.tan((viewAngle * Math.PI) / 360);

/** Sees the whole box from in front and a little above, with z up. */
export function cameraFor([low, high]: [Vec3, Vec3], aspect: number): Camera {
  const focus = scale(add(low, high), 0.5);
  const radius = Math.max(norm(sub(high, low)) / 2, 1e-6);
  const flat = high[2] - low[2] < 1e-6 * radius; // a surface in the plane is seen from above
  const from: Vec3 = flat ? [0, 0, 1] : unit([0.45, -1, 0.3]);
  const distance = (1.05 * radius) / Math.sin(Math.atan(slope * Math.min(1, aspect)));
  return { position: add(focus, scale(from, distance)), focus, up: flat ? [0, 1, 0] : [0, 0, 1] };
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

/** Moves the scene with the pointer; `x` and `y` in heights of the view. */
export function pan(camera: Camera, x: number, y: number): Camera {
  const [right, up] = frame(camera);
  const height = 2 * slope * norm(sub(camera.focus, camera.position));
  const by = add(scale(right, -x * height), scale(up, -y * height));
  return { position: add(camera.position, by), focus: add(camera.focus, by), up: camera.up };
}

export function zoom(camera: Camera, factor: number): Camera {
  const back = scale(sub(camera.position, camera.focus), 1 / factor);
  return { ...camera, position: add(camera.focus, back) };
}

/** The ray through a place of the pane, both coordinates from -1 (left, bottom) to 1. */
export function rayThrough(camera: Camera, x: number, y: number, aspect: number): Ray {
  const [right, up, forward] = frame(camera);
  const direction = unit(add(forward, add(scale(right, x * slope * aspect), scale(up, y * slope))));
  return { origin: camera.position, direction };
}

/** Where a point is seen, as rayThrough takes it; null behind the eye. */
export function seenAt(camera: Camera, point: Vec3, aspect: number): [number, number] | null {
  const [right, up, forward] = frame(camera);
  const from = sub(point, camera.position);
  const depth = dot(from, forward);
  if (depth <= 0) return null;
  return [dot(from, right) / (depth * slope * aspect), dot(from, up) / (depth * slope)];
}

/** The height of the view at a point's distance. */
export function heightAt(camera: Camera, point: Vec3): number {
  return 2 * slope * norm(sub(point, camera.position));
}
