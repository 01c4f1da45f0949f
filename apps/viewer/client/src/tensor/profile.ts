// FA and cost along a path, as a plot.
import { type Color, css } from '../color_map';
import { shortNumber, svg, withUnit } from '../ui/dom';
import { ticks } from '../ui/legend';

const [width, height] = [262, 132];
const box = { left: 30, right: width - 34, top: 10, bottom: height - 26 };

export interface Profile {
  distance: Float32Array;
  fa: Float32Array;
  cost: Float32Array;
}

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
  const plot = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    class: 'profile',
    role: 'img',
    'aria-label': `FA and cost along the path of ${withUnit(shortNumber(length), unit)}`,
  });
  for (const tick of ticks(0, length, 4)) {
    plot.append(svg('text', { x: x(tick), y: box.bottom + 13, 'text-anchor': 'middle' }, shortNumber(tick)));
  }
  for (const share of [0, 0.5, 1]) {
    plot.append(svg('line', { x1: box.left, x2: box.right, y1: y(share), y2: y(share), class: 'grid' }));
    plot.append(svg('text', { x: box.left - 4, y: y(share) + 4, 'text-anchor': 'end' }, String(share)));
    plot.append(
      svg('text', { x: box.right + 4, y: y(share) + 4 }, shortNumber(Number((share * highest).toPrecision(2)))),
    );
  }
  plot.append(svg('polyline', { points: line(fa, 1), class: 'fa', stroke: css(color) }));
  plot.append(svg('polyline', { points: line(cost, highest), class: 'cost' }));
  plot.append(svg('text', { x: box.left, y: height - 2 }, '— FA'));
  plot.append(
    svg('text', { x: (box.left + box.right) / 2, y: height - 2, 'text-anchor': 'middle' }, 'mm along the path'),
  );
  plot.append(svg('text', { x: box.right + 30, y: height - 2, 'text-anchor': 'end' }, '- - cost'));
  return plot;
}
