// Histograms: that of the volume with the isovalue to drag, and that of the triangles' quality.
import { type Color, css } from '../color_map';
import { h, plotArea, shortNumber, svg } from '../ui/dom';
import { ticks } from '../ui/legend';
import type { Histogram } from './values';

const [width, height] = [262, 110];
const box = { left: 6, right: width - 6, top: 6, bottom: height - 18 };
const across = box.right - box.left;

/** Bars from `low` to `high`, and numbers below them. */
function bars(
  counts: ArrayLike<number>,
  [low, high]: readonly [number, number],
  heightOf: (count: number) => number,
  color: (bar: number) => string,
): SVGElement[] {
  const most = Math.max(1, ...Array.from(counts, heightOf));
  const each = across / counts.length;
  const parts = Array.from(counts, (count, k) => {
    const tall = (heightOf(count) / most) * (box.bottom - box.top);
    const place = { x: (box.left + k * each).toFixed(2), y: (box.bottom - tall).toFixed(2) };
    return svg('rect', { ...place, width: (each + 0.15).toFixed(2), height: tall.toFixed(2), fill: color(k) });
  });
  const labels = ticks(low, high, 4).map((tick) => {
    const x = box.left + ((tick - low) / (high - low)) * across;
    const anchor = x < box.left + 12 ? 'start' : x > box.right - 12 ? 'end' : 'middle';
    return svg('text', { x: x.toFixed(1), y: height - 5, 'text-anchor': anchor }, shortNumber(tick));
  });
  return [
    ...parts,
    svg('line', { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom, class: 'grid' }),
    ...labels,
  ];
}

/** The histogram of a volume. Its heights are logarithms: most voxels of most images are empty. */
export class IsovaluePlot {
  readonly element: HTMLElement;
  private readonly line = svg('line', { y1: 0, y2: box.bottom, class: 'isovalue' });
  private readonly inside = svg('rect', { y: box.top, height: box.bottom - box.top, class: 'inside' });

  constructor(
    private readonly histogram: Histogram,
    private readonly onMove: (isovalue: number) => void,
  ) {
    const { counts, low, high } = histogram;
    const plot = plotArea(width, height, '');
    const logarithm = (count: number) => Math.log10(1 + count);
    plot.append(this.inside, ...bars(counts, [low, high], logarithm, () => 'currentColor'), this.line);
    this.element = h('div', {
      class: 'isovalue-plot',
      tabindex: 0,
      role: 'slider',
      'aria-label': 'Isovalue on the histogram of the values',
      'aria-valuemin': low,
      'aria-valuemax': high,
    });
    this.element.append(plot);
    const move = (event: PointerEvent) => {
      const edge = this.element.getBoundingClientRect();
      const x = ((event.clientX - edge.left) / edge.width) * width;
      this.report(low + ((x - box.left) / across) * (high - low));
    };
    this.element.addEventListener('pointerdown', (event) => {
      this.element.setPointerCapture(event.pointerId);
      move(event);
    });
    this.element.addEventListener('pointermove', (event) => {
      if (event.buttons !== 0) move(event);
    });
    this.element.addEventListener('keydown', (event) => this.key(event));
  }

  draw(isovalue: number, inside: 'above' | 'below'): void {
    const { low, high } = this.histogram;
    const place = Math.min(Math.max((isovalue - low) / (high - low), 0), 1);
    const x = box.left + (Number.isFinite(place) ? place : 0) * across;
    for (const end of ['x1', 'x2']) this.line.setAttribute(end, x.toFixed(1));
    const [from, to] = inside === 'above' ? [x, box.right] : [box.left, x];
    this.inside.setAttribute('x', from.toFixed(1));
    this.inside.setAttribute('width', (to - from).toFixed(1));
    this.element.setAttribute('aria-valuenow', String(isovalue));
    this.element.setAttribute('aria-valuetext', shortNumber(isovalue));
  }

  private key(event: KeyboardEvent): void {
    const { low, high } = this.histogram;
    const step = (high - low) / (event.shiftKey ? 20 : 200);
    const now = Number(this.element.getAttribute('aria-valuenow'));
    const moves: Record<string, number> = {
      ArrowLeft: now - step,
      ArrowDown: now - step,
      ArrowRight: now + step,
      ArrowUp: now + step,
      Home: low,
      End: high,
    };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.report(to);
  }

  private report(isovalue: number): void {
    const { low, high } = this.histogram;
    if (low < high) this.onMove(Number(Math.min(Math.max(isovalue, low), high).toPrecision(4)));
  }
}

/** How many triangles have which radius ratio, from 0 to 1, in the colours of the mesh. */
export function qualityPlot(counts: Uint32Array, colors: readonly Color[]): SVGElement {
  const plot = plotArea(width, height, 'How many triangles have which radius ratio');
  const color = (k: number) => css(colors[Math.round(((k + 0.5) / counts.length) * (colors.length - 1))]!);
  plot.append(...bars(counts, [0, 1], Math.sqrt, color));
  return plot;
}
