// Isochron's colour map, the same as draw/color_map.cpp of the library, and a diverging one for differences. Both are
// drawn in the perceptual space OKLab, with blue against yellow or orange, the axis that colour-blind people see.

export type Color = [number, number, number];

/** Places that the front did not reach (draw/color_map.h). */
export const unreachedColor: Color = [176, 176, 180];

// Lightness, chroma, hue in degrees.
const stops: readonly (readonly [number, number, number])[] = [
  [0.3, 0.14, 298],
  [0.43, 0.135, 268],
  [0.56, 0.105, 230],
  [0.69, 0.108, 184],
  [0.82, 0.15, 140],
  [0.94, 0.16, 106],
];

function spline(a: number, b: number, c: number, d: number, t: number): number {
  return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

function polar(lightness: number, chroma: number, hue: number): Color {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
}

function labAt(position: number): Color {
  const scaled = position * (stops.length - 1);
  const k = Math.min(Math.floor(scaled), stops.length - 2);
  const stop = (i: number) => stops[Math.min(Math.max(i, 0), stops.length - 1)]!;
  const t = scaled - k;
  const [a, b, c, d] = [stop(k - 1), stop(k), stop(k + 1), stop(k + 2)];
  return polar(b[0] + t * (c[0] - b[0]), spline(a[1], b[1], c[1], d[1], t), spline(a[2], b[2], c[2], d[2], t));
}

function encoded(linear: number): number {
  const c = Math.min(Math.max(linear, 0), 1);
  return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * Math.pow(c, 1 / 2.4) - 0.055));
}

// OKLab to sRGB (B. Ottosson, "A perceptual color space for image processing", 2020).
function toSrgb([x, y, z]: Color): Color {
  const l = Math.pow(x + 0.3963377774 * y + 0.2158037573 * z, 3);
  const m = Math.pow(x - 0.1055613458 * y - 0.0638541728 * z, 3);
  const s = Math.pow(x - 0.0894841775 * y - 1.291485548 * z, 3);
  return [
    encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    encoded(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** `count` colours from low to high, at equal visible distances. */
export function colorMap(count: number): Color[] {
  const samples = 2000;
  const path = Array.from({ length: samples + 1 }, (_, i) => labAt(i / samples));
  const length = [0];
  for (let i = 1; i <= samples; ++i) {
    const [a, b] = [path[i - 1]!, path[i]!];
    length.push(length[i - 1]! + Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]));
  }
  const colors: Color[] = [];
  let at = 0;
  for (let i = 0; i < count; ++i) {
    const wanted = length[samples]! * (count > 1 ? i / (count - 1) : 0.5);
    while (at < samples && length[at]! < wanted) ++at;
    colors.push(toSrgb(path[at]!));
  }
  return colors;
}

/** `count` colours from blue over near-white to orange; the middle one stands for no difference. */
export function differenceMap(count: number): Color[] {
  return Array.from({ length: count }, (_, i) => {
    const side = count > 1 ? (2 * i) / (count - 1) - 1 : 0;
    const far = Math.abs(side);
    return toSrgb(polar(0.96 - 0.5 * far, 0.14 * Math.sqrt(far), side < 0 ? 258 : 48));
  });
}

/** From 0 to 1, as the 3-D view takes them. */
export const fraction = ([r, g, b]: Color): Color => [r / 255, g / 255, b / 255];

export function css([r, g, b]: Color): string {
  return `rgb(${r} ${g} ${b})`;
}
