// From values to places in a table of colours.
import { type Color, colorMap, differenceMap, unreachedColor } from '../color_map';
import type { Vec3 } from '../types';
import { tableSize } from '../view/layers';

/** The part of a table that values take; the rest is grey, for places that have none. */
const share = 0.97;
const used = Math.floor(share * tableSize);
const sequential = colorMap(used);
const diverging = differenceMap(used);

export interface Range {
  low: number;
  high: number;
}

export type MapName = 'sequential' | 'difference';

export function mapColors(name: MapName): readonly Color[] {
  return name === 'sequential' ? sequential : diverging;
}

/** Places in a table for values; `take` says which value each drawn vertex has. */
export function places(values: Float32Array, take: Uint32Array, { low, high }: Range): Float32Array {
  const result = new Float32Array(take.length);
  const factor = high > low ? (share * (used - 1)) / used / (high - low) : 0;
  for (let i = 0; i < take.length; ++i) {
    const value = values[take[i]!]!;
    result[i] = Number.isFinite(value) ? Math.min(Math.max((value - low) * factor, 0), share) + 0.25 / tableSize : 1;
  }
  return result;
}

/** The table: colours up to the moment, a bright line at the front, and `ahead` where the front has not been. */
export function table(name: MapName, { low, high }: Range, moment: number | null, ahead: Color): Color[] {
  const colors: Color[] = [...mapColors(name)];
  if (moment !== null && high > low) {
    const front = Math.round(((moment - low) / (high - low)) * (used - 1));
    const band = Math.max(4, Math.round(used / 110));
    for (let i = Math.max(front - band, 0); i <= Math.min(front, used - 1); ++i) colors[i] = [255, 255, 255];
    for (let i = Math.max(front + 1, 0); i < used; ++i) colors[i] = ahead;
  }
  while (colors.length < tableSize) colors.push(unreachedColor);
  return colors;
}

/** For surfaces without values. */
export function plainTable(color: Color): Color[] {
  return Array.from({ length: tableSize }, () => color);
}

export const fraction = (color: Color): Vec3 => [color[0] / 255, color[1] / 255, color[2] / 255];
