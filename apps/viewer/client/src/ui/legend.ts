// The colour bar of a pane.
import { type Color, css } from '../color_map';
import { h, shortNumber } from './dom';

export interface LegendContent {
  title: string;
  unit: string;
  low: number;
  high: number;
  colors: readonly Color[];
  /** What grey stands for; "" when there is none. */
  grey: string;
}

/** Round numbers inside [low, high], about `most` of them. */
export function ticks(low: number, high: number, most: number): number[] {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= raw) ?? 10);
  const found: number[] = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; ++k) found.push(k * step);
  return found;
}

/** The figures at a bar: round ones, and the last one, in place of those that would touch it. */
export function marks(low: number, high: number): number[] {
  const room = 0.15 * (high - low);
  return high > low ? [...ticks(low, high, 5).filter((tick) => tick <= high - room), high] : [];
}

function heading({ title, unit }: LegendContent): string {
  return unit === '' ? title : `${title} (${unit})`;
}

export function legendElement(content: LegendContent): HTMLElement {
  const { low, high, colors } = content;
  const some = Array.from({ length: 24 }, (_, i) => css(colors[Math.round((i / 23) * (colors.length - 1))]!));
  const bar = h('div', { class: 'bar' });
  bar.style.background = `linear-gradient(to right, ${some.join(', ')})`;
  const scale = h('div', { class: 'scale' });
  for (const tick of marks(low, high)) {
    const label = h('span', {}, shortNumber(tick));
    label.style.left = `${(100 * (tick - low)) / (high - low)}%`;
    scale.append(label);
  }
  const box = h('div', {
    class: 'legend',
    role: 'img',
    'aria-label': `${heading(content)}, from ${shortNumber(low)} to ${shortNumber(high)}`,
  });
  box.append(h('div', { class: 'title' }, heading(content)), bar, scale);
  if (content.grey !== '') box.append(h('div', { class: 'grey' }, h('i', {}), content.grey));
  return box;
}

/** The same bar on a picture that is saved; `x`, `y` its lower left corner in pixels. */
export function paintLegend(
  context: CanvasRenderingContext2D,
  content: LegendContent,
  x: number,
  y: number,
  ratio: number,
  ink: string,
): void {
  const { low, high, colors } = content;
  const [width, height] = [220 * ratio, 10 * ratio];
  const top = y - 30 * ratio;
  colors.forEach((color, i) => {
    context.fillStyle = css(color);
    context.fillRect(x + (i / colors.length) * width, top, width / colors.length + 1, height);
  });
  context.fillStyle = ink;
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  context.textAlign = 'left';
  context.fillText(heading(content), x, top - 6 * ratio);
  context.textAlign = 'center';
  for (const tick of marks(low, high)) {
    context.fillText(shortNumber(tick), x + ((tick - low) / (high - low)) * width, top + height + 14 * ratio);
  }
}
