// Slices: each on a canvas with the crosshair, balls and lines over it, and all three as planes in the 3-D view.
import type vtkRenderer from '@kitware/vtk.js/Rendering/Core/Renderer';
import { type Color, css } from '../color_map';
import type { Vec3 } from '../types';
import { h } from '../ui/dom';
import { PictureLayer } from '../view/layers';
import { type Axis, type Volume, axes, sliceAxes } from './volume';

const names = ['Sagittal', 'Coronal', 'Axial'] as const;
/** World space is RAS: the letters at the ends of its axes. */
const ends = [
  ['L', 'R'],
  ['P', 'A'],
  ['I', 'S'],
] as const;

/** White letters that can be read on anything. */
function write(context: CanvasRenderingContext2D, text: string, x: number, y: number): void {
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineWidth = 3;
  context.strokeStyle = 'rgb(0 0 0 / 0.6)';
  context.strokeText(text, x, y);
  context.fillStyle = 'white';
  context.fillText(text, x, y);
}

/** A ball in the world: a slice through it shows a circle. */
export interface SliceBall {
  point: Vec3;
  radius: number;
  color: Color;
  /** In its middle; "" for nothing. */
  letter: string;
  strong: boolean;
}

export interface SliceContent {
  crosshair: Vec3;
  balls: readonly SliceBall[];
  /** Polylines in the world, 3 numbers a point; thin where they are off the slice. */
  paths: readonly { points: Float32Array; color: Color }[];
  /** Segments in the slice across each axis, 6 numbers each. */
  sections?: { segments: readonly Float32Array[]; color: Color };
}

export interface SliceHandlers {
  /** The pointer is pressed or dragged here. */
  point(place: Vec3): void;
  /** The slice moves by so many voxels. */
  scroll(axis: Axis, voxels: number): void;
}

export class SliceView {
  readonly canvas: HTMLCanvasElement;
  /** The image alone, for the plane in the 3-D view. */
  readonly image = h('canvas');
  private shift = { left: 0, top: 0, scale: 1 };

  constructor(
    readonly axis: Axis,
    private readonly volume: Volume,
    handlers: SliceHandlers,
  ) {
    this.canvas = h('canvas', {
      class: 'slice',
      tabindex: 0,
      role: 'img',
      'aria-label': `${names[axis]} slice; arrow keys move the crosshair, Page Up and Page Down the slice`,
    });
    const report = (event: PointerEvent) =>
      handlers.point(this.worldAt(event.offsetX, event.offsetY, this.content.crosshair));
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      report(event);
    });
    this.canvas.addEventListener('pointermove', (event) => {
      if (event.buttons !== 0) report(event);
    });
    this.canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        handlers.scroll(axis, event.deltaY > 0 ? -1 : 1);
      },
      { passive: false },
    );
    const [u, v] = sliceAxes[axis];
    const keys: Record<string, [Axis, number]> = {
      ArrowLeft: [u, -1],
      ArrowRight: [u, 1],
      ArrowUp: [v, 1],
      ArrowDown: [v, -1],
      PageUp: [axis, 1],
      PageDown: [axis, -1],
    };
    this.canvas.addEventListener('keydown', (event) => {
      const move = keys[event.key];
      if (move === undefined) return;
      event.preventDefault();
      handlers.scroll(...move);
    });
  }

  private content: SliceContent = { crosshair: [0, 0, 0], balls: [], paths: [] };

  setImage(image: ImageData): void {
    this.image.width = image.width;
    this.image.height = image.height;
    this.image.getContext('2d')!.putImageData(image, 0, 0);
  }

  draw(content: SliceContent): void {
    this.content = content;
    const ratio = window.devicePixelRatio;
    const { canvas, image } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0 || height === 0 || image.width === 0) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d')!;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.scale(ratio, ratio);
    const scale = Math.min((width - 8) / image.width, (height - 8) / image.height);
    this.shift = { left: (width - scale * image.width) / 2, top: (height - scale * image.height) / 2, scale };
    context.imageSmoothingEnabled = false;
    context.drawImage(image, this.shift.left, this.shift.top, scale * image.width, scale * image.height);
    this.drawSections(context);
    this.drawPaths(context);
    this.drawBalls(context);
    this.drawCrosshair(context, width, height);
    this.drawLetters(context, width, height);
  }

  private screenAt(point: ArrayLike<number>): [number, number] {
    const [low, high] = this.volume.bounds;
    const [u, v] = sliceAxes[this.axis];
    const perMm = this.shift.scale / this.volume.step;
    return [this.shift.left + (point[u]! - low[u]) * perMm, this.shift.top + (high[v] - point[v]!) * perMm];
  }

  private worldAt(x: number, y: number, crosshair: Vec3): Vec3 {
    const [low, high] = this.volume.bounds;
    const [u, v] = sliceAxes[this.axis];
    const perMm = this.shift.scale / this.volume.step;
    const place: Vec3 = [...crosshair];
    place[u] = Math.min(Math.max(low[u] + (x - this.shift.left) / perMm, low[u]), high[u]);
    place[v] = Math.min(Math.max(high[v] - (y - this.shift.top) / perMm, low[v]), high[v]);
    return place;
  }

  private drawPaths(context: CanvasRenderingContext2D): void {
    const near = 1.5 * this.volume.smallestSpacing;
    for (const { points, color } of this.content.paths) {
      context.strokeStyle = css(color);
      for (let k = 0; k + 5 < points.length; k += 3) {
        const away = Math.abs(points[k + this.axis]! - this.content.crosshair[this.axis]);
        context.lineWidth = away < near ? 2.5 : 1;
        context.globalAlpha = away < near ? 1 : 0.45;
        context.beginPath();
        context.moveTo(...this.screenAt(points.subarray(k, k + 3)));
        context.lineTo(...this.screenAt(points.subarray(k + 3, k + 6)));
        context.stroke();
      }
      context.globalAlpha = 1;
    }
  }

  private drawSections(context: CanvasRenderingContext2D): void {
    const { sections } = this.content;
    const segments = sections?.segments[this.axis];
    if (sections === undefined || segments === undefined) return;
    context.strokeStyle = css(sections.color);
    context.lineWidth = 1.5;
    context.beginPath();
    for (let k = 0; k + 5 < segments.length; k += 6) {
      context.moveTo(...this.screenAt(segments.subarray(k, k + 3)));
      context.lineTo(...this.screenAt(segments.subarray(k + 3, k + 6)));
    }
    context.stroke();
  }

  private drawBalls(context: CanvasRenderingContext2D): void {
    const perMm = this.shift.scale / this.volume.step;
    for (const { point, radius, color, letter, strong } of this.content.balls) {
      const away = Math.abs(point[this.axis] - this.content.crosshair[this.axis]);
      if (away > radius) continue;
      const [x, y] = this.screenAt(point);
      context.beginPath();
      context.arc(x, y, Math.max(3, perMm * Math.sqrt(radius ** 2 - away ** 2)), 0, 2 * Math.PI);
      context.strokeStyle = css(color);
      context.lineWidth = strong ? 2.5 : 1.5;
      context.stroke();
      context.font = '600 12px system-ui, sans-serif';
      if (letter !== '') write(context, letter, x, y);
    }
  }

  private drawCrosshair(context: CanvasRenderingContext2D, width: number, height: number): void {
    const [x, y] = this.screenAt(this.content.crosshair);
    const gap = 7;
    context.beginPath();
    for (const [x1, y1, x2, y2] of [
      [0, y, x - gap, y],
      [x + gap, y, width, y],
      [x, 0, x, y - gap],
      [x, y + gap, x, height],
    ] as const) {
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    for (const [color, wide] of [
      ['rgb(0 0 0 / 0.4)', 3],
      ['rgb(255 255 255 / 0.8)', 1],
    ] as const) {
      context.strokeStyle = color;
      context.lineWidth = wide;
      context.stroke();
    }
  }

  private drawLetters(context: CanvasRenderingContext2D, width: number, height: number): void {
    const [u, v] = sliceAxes[this.axis];
    context.font = '12px system-ui, sans-serif';
    write(context, ends[u][0], 10, height / 2 + 12);
    write(context, ends[u][1], width - 10, height / 2 + 12);
    write(context, ends[v][1], width / 2 + 12, 12);
    write(context, ends[v][0], width / 2 + 12, height - 12);
    write(context, names[this.axis], 32, 14);
  }
}

/** The three slices as half transparent planes in a 3-D view. */
export class SlicePlanes {
  private readonly layers: PictureLayer[];

  constructor(
    renderer: vtkRenderer,
    private readonly volume: Volume,
  ) {
    this.layers = axes.map(() => new PictureLayer(renderer));
  }

  set(axis: Axis, place: number, image: ImageData): void {
    const [low, high] = this.volume.bounds;
    const [u, v] = sliceAxes[axis];
    const corner = (right: boolean, up: boolean): Vec3 => {
      const p: Vec3 = [place, place, place];
      p[u] = right ? high[u] : low[u];
      p[v] = up ? high[v] : low[v];
      return p;
    };
    const corners = [corner(false, false), corner(true, false), corner(true, true), corner(false, true)];
    this.layers[axis]!.setPicture(corners, image);
  }

  setVisible(visible: boolean): void {
    for (const layer of this.layers) layer.setVisible(visible);
  }
}
