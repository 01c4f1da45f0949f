// Names and legends over the panes, and the same on a saved picture.
import { h } from './dom';
import { type LegendContent, legendElement, paintLegend } from './legend';

export interface PaneLabel {
  title: string;
  legend: LegendContent | null;
}

export class Overlay {
  readonly element = h('div', { class: 'overlay' });
  private readonly hint = h('p', { class: 'stage-hint', hidden: true });
  private readonly caption = h('p', { class: 'stage-caption' });
  private labels: PaneLabel[] = [];

  setPanes(labels: PaneLabel[]): void {
    this.labels = labels;
    const panes = labels.map(({ title, legend }) => {
      const pane = h('div', { class: 'pane' });
      if (title !== '') pane.append(h('h2', {}, title));
      if (legend !== null) pane.append(legendElement(legend));
      return pane;
    });
    this.element.replaceChildren(...panes, this.caption, this.hint);
  }

  /** What is shown of the whole, in the corner; also on saved pictures. */
  setCaption(text: string): void {
    this.caption.textContent = text;
  }

  setHint(text: string): void {
    this.hint.textContent = text;
    this.hint.hidden = text === '';
  }

  /** The canvas with names and legends on it. Call right after drawing, while the canvas still holds its picture. */
  painted(canvas: HTMLCanvasElement, shownWidth: number): HTMLCanvasElement {
    const ratio = canvas.width / (shownWidth || 1);
    const copy = h('canvas', { width: canvas.width, height: canvas.height });
    const context = copy.getContext('2d')!;
    context.drawImage(canvas, 0, 0);
    const ink = getComputedStyle(this.element).color;
    const width = canvas.width / this.labels.length;
    this.labels.forEach(({ title, legend }, i) => {
      context.fillStyle = ink;
      context.textAlign = 'left';
      context.font = `600 ${14 * ratio}px system-ui, sans-serif`;
      context.fillText(title, i * width + 16 * ratio, 28 * ratio);
      if (legend !== null) paintLegend(context, legend, i * width + 20 * ratio, canvas.height - 12 * ratio, ratio, ink);
    });
    context.fillStyle = ink;
    context.textAlign = 'right';
    context.font = `${14 * ratio}px system-ui, sans-serif`;
    context.fillText(this.caption.textContent ?? '', canvas.width - 16 * ratio, 28 * ratio);
    return copy;
  }
}

export function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('the picture could not be made')) : resolve(blob)),
      'image/png',
    );
  });
}
