// The 3-D view of the surface mode: particles, the mesh, the brush and the slices.
import { type Color, colorMap, fraction } from '../color_map';
import { type DrawnMesh, type Triangles, drawnMesh, separateTriangles } from '../mesh/drawn_mesh';
import type { Theme } from '../stage_mode';
import { SlicePlanes } from '../slices/slice_view';
import type { Volume } from '../slices/volume';
import type { Vec3 } from '../types';
import type { LegendContent } from '../ui/legend';
import { type Shape, BallLayer, ShapeLayer } from '../view/layers';
import type { Stage } from '../view/stage';
import { type Particles, discs, sizeRange, valueColors } from './particles';
import type { Stroke, SurfaceModel } from './surface_model';

/** A mesh that the server has made. */
export interface Made extends Triangles {
  quality: Float32Array; // of triangles
  sizes: Float32Array; // of vertices
}

/** Radius ratios below this are all drawn as the worst. */
export const worstShown = 0.5;
export const brushColor: Color = [230, 97, 0];
const table = colorMap(256);

export class SurfaceView {
  readonly slices: SlicePlanes;
  private readonly mesh: ShapeLayer;
  private readonly particles: ShapeLayer;
  private readonly cursor: BallLayer;
  private spots: BallLayer[] = [];
  private drawn: { made: Made; mesh: DrawnMesh; look: string } | null = null;

  constructor(
    private readonly stage: Stage,
    volume: Volume,
  ) {
    const { renderer } = stage.panes[0]!;
    this.slices = new SlicePlanes(renderer, volume);
    this.mesh = new ShapeLayer(renderer);
    this.particles = new ShapeLayer(renderer);
    this.particles.hideBacks();
    this.particles.setVisible(false);
    this.cursor = new BallLayer(renderer, fraction(brushColor), 0.35);
    this.cursor.setVisible(false);
  }

  setParticles(particles: Particles | null): void {
    this.particles.setVisible(particles !== null);
    if (particles !== null) this.particles.setShape(discs(particles));
    this.stage.render();
  }

  setMesh(made: Made | null, { coloring, showEdges }: SurfaceModel, theme: Theme): void {
    this.mesh.setVisible(made !== null);
    this.stage.render();
    if (made === null) return;
    const look = `${coloring} ${theme.plain.join()}`;
    const before = this.drawn?.made === made ? this.drawn : null;
    if (before?.look !== look) {
      const mesh = before?.mesh ?? drawnMesh(made);
      this.drawn = { made, mesh, look };
      this.mesh.setShape(colored(mesh, made, coloring));
      this.mesh.setColor(fraction(theme.plain));
    }
    this.mesh.setEdges(showEdges ? [0.38, 0.4, 0.46] : null);
  }

  /** Where strokes have been, and where the next would begin (null: nowhere). */
  setBrush(brushRadius: number, strokes: readonly Stroke[], cursor: Vec3 | null): void {
    const spots = strokes.flatMap(({ points, radius }) => points.map((point) => ({ point, radius })));
    while (this.spots.length > spots.length) this.spots.pop()!.remove();
    while (this.spots.length < spots.length)
      this.spots.push(new BallLayer(this.stage.panes[0]!.renderer, fraction(brushColor), 0.15));
    spots.forEach(({ point, radius }, i) => this.spots[i]!.place(point, radius, fraction(brushColor)));
    this.cursor.setVisible(cursor !== null);
    if (cursor !== null) this.cursor.place(cursor, brushRadius, fraction(brushColor));
    this.stage.render();
  }
}

function colored(mesh: DrawnMesh, made: Made, coloring: SurfaceModel['coloring']): Shape {
  if (coloring === 'plain') return { ...mesh, colors: null };
  if (coloring === 'size') {
    const sizes = Float32Array.from(mesh.vertexOf, (v) => made.sizes[v]!);
    return { ...mesh, colors: valueColors(sizes, ...sizeRange(made.sizes)) };
  }
  const apart = separateTriangles(mesh);
  const quality = Float32Array.from(apart.vertexOf, (_, corner) => made.quality[Math.floor(corner / 3)]!);
  return { ...apart, colors: valueColors(quality, worstShown, 1) };
}

/** What the colours of the particles, or else of the mesh, mean. */
export function surfaceLegend(
  { coloring }: SurfaceModel,
  particles: Particles | null,
  made: Made | null,
  unit: string,
): LegendContent | null {
  const sizes = particles?.sizes ?? (coloring === 'size' ? made?.sizes : undefined);
  if (sizes !== undefined) {
    const [low, high] = sizeRange(sizes);
    return { title: 'edge length wanted', unit, low, high, colors: table, grey: '' };
  }
  if (made === null || coloring === 'plain') return null;
  return { title: 'radius ratio', unit: '', low: worstShown, high: 1, colors: table, grey: '' };
}

/** The colours of radius ratios from 0 to 1. */
export function qualityColors(count: number): Color[] {
  const ratios = Array.from({ length: count }, (_, i) => i / (count - 1));
  const colors = valueColors(ratios, worstShown, 1);
  return ratios.map((_, i) => [colors[3 * i]!, colors[3 * i + 1]!, colors[3 * i + 2]!]);
}
