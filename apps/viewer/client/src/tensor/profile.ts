// FA and cost along a path, as a plot.
import { type Color, css } from '../color_map';
import { plotArea, shortNumber, svg, withUnit } from '../ui/dom';
import { ticks } from '../ui/legend';

const [width, height] = [262, 132];
const box = { left: 30, right: width - 34, top: 10, bottom: height - 26 };

type Profile = Record<'distance' | 'fa' | 'cost', Float32Array>;

/** FA as a solid line on the left scale, cost as a dashed one on the right. */
export function profilePlot({ distance, fa, cost }: Profile, color: Color, unit: string): SVGElement {
  const length = distance.at(-1) ?? 0;
  const highest = cost.reduce((most, c) => (Number.isFinite(c) ? Math.max(most, c) : most), 0) || 1;
  const x = (d: number) => box.left + (d / (length || 1)) * (box.right - box.left);
  const y = (share: number) => box.bottom - share * (box.bottom - box.top);
  const line = (values: Float32Array, top: number) =>
    [...values]
      .map((value, i) => (Number.isFinite(value) ? `${x(distance[i]!).toFixed(1)},${y(value / top).toFixed(1)}` : ''))
      .join(' ');
  const label = `FA and cost along the path of ${withUnit(shortNumber(length), unit)}`;
  const plot = plotArea(width, height, label, 'profile');
  const add = (tag: string, attributes: Record<string, string | number>, text = '') =>
    plot.append(svg(tag, attributes, text));
  for (const tick of ticks(0, length, 4)) {
    add('text', { x: x(tick), y: box.bottom + 13, 'text-anchor': 'middle' }, shortNumber(tick));
  }
  for (const share of [0, 0.5, 1]) {
    add('line', { x1: box.left, x2: box.right, y1: y(share), y2: y(share), class: 'grid' });
    add('text', { x: box.left - 4, y: y(share) + 4, 'text-anchor': 'end' }, String(share));
    add('text', { x: box.right + 4, y: y(share) + 4 }, shortNumber(Number((share * highest).toPrecision(2))));
  }
  add('polyline', { points: line(fa, 1), class: 'fa', stroke: css(color) });
  add('polyline', { points: line(cost, highest), class: 'cost' });
  add('text', { x: box.left, y: height - 2 }, '— FA');
  add('text', { x: (box.left + box.right) / 2, y: height - 2, 'text-anchor': 'middle' }, 'mm along the path');
  add('text', { x: box.right + 30, y: height - 2, 'text-anchor': 'end' }, '- - cost');
  return plot;
}
