// Histograms: that of the volume (where to begin, which values the slices show, and the isovalue to drag), and that of
// the triangles' quality.
import { type Color, css } from '../color_map';
import type { Pack } from '../pack';
import { h, plotArea, shortNumber, svg } from '../ui/dom';
import { ticks } from '../ui/legend';

export function readHistogram(pack: Pack) {
  // Without a finite value there is no range.
  return { counts: pack.ids('counts'), low: pack.number('low', 0), high: pack.number('high', 0) };
}

export type Histogram = ReturnType<typeof readHistogram>;

/** The value between bins k and k + 1. */
const edgeAfter = ({ counts, low, high }: Histogram, k: number) => low + ((k + 1) / counts.length) * (high - low);

/**
 * The value that parts the voxels best into two kinds (N. Otsu, 1979): with the largest variance between them. Where
 * several do equally well, as in the gap between two peaks, the middle one.
 */
export function partingValue(histogram: Histogram): number {
  const { counts } = histogram;
  let [all, total] = [0, 0];
  counts.forEach((count, k) => {
    all += count;
    total += count * k;
  });
  const between: number[] = [];
  let [below, sum] = [0, 0];
  for (let k = 0; k + 1 < counts.length; ++k) {
    below += counts[k]!;
    sum += counts[k]! * k;
    const above = all - below;
    const difference = below > 0 && above > 0 ? sum / below - (total - sum) / above : 0;
    between.push(below * above * difference * difference);
  }
  const best = between.reduce((most, one) => Math.max(most, one), 0);
  const good = between.flatMap((one, k) => (one >= (1 - 1e-3) * best ? [k] : []));
  const middle = good[Math.floor(good.length / 2)] ?? 0;
  return Number(edgeAfter(histogram, middle).toPrecision(4));
}

/** The range of all values but the lowest and the highest thousandth, for slices in grey. */
export function greyRange(histogram: Histogram): [number, number] {
  const { counts, low, high } = histogram;
  const few = counts.reduce((sum, count) => sum + count, 0) / 1000;
  let [first, last] = [0, counts.length - 1];
  for (let sum = counts[first]!; sum <= few && first < last; sum += counts[first]!) ++first;
  for (let sum = counts[last]!; sum <= few && first < last; sum += counts[last]!) --last;
  return first < last ? [first === 0 ? low : edgeAfter(histogram, first - 1), edgeAfter(histogram, last)] : [low, high];
}

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
