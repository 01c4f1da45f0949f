// Draws what the model asks for and the server has answered. It keeps nothing that it could not draw again, so that a
// lost WebGL context costs no more than a new view.
import type { LegendContent } from '../ui/legend';
import type { Vec3 } from '../types';
import { sizeAt } from '../view/camera';
import { BallLayer, Layer, LineLayer, SurfaceLayer, tableSize } from '../view/layers';
import type { Pane, Stage } from '../view/stage';
import { type Color, colorMap, differenceMap, unreachedColor } from '../color_map';
import type { Theme } from '../stage_mode';
import {
  type Arrival,
  type Clipped,
  type LevelSurfaces,
  type Path,
  difference,
  pointLevels,
  surfacesUntil,
} from './answers';
import { type DrawnMesh, type Triangles, drawnMesh, separateTriangles } from './drawn_mesh';
import type { Model, SlotName } from './model';

/** The part of a table that values take; the rest is grey, for places that have none. */
const share = 0.97;
const used = Math.floor(share * tableSize);
const sequential = colorMap(used);
const diverging = differenceMap(used);

export interface Range {
  low: number;
  high: number;
}

type MapName = 'sequential' | 'difference';

function mapColors(name: MapName): readonly Color[] {
  return name === 'sequential' ? sequential : diverging;
}

/** Places in a table for values; `take` says which value each drawn vertex has. */
function places(values: Float32Array, take: Uint32Array, { low, high }: Range): Float32Array {
  const result = new Float32Array(take.length);
  const factor = high > low ? (share * (used - 1)) / used / (high - low) : 0;
  for (let i = 0; i < take.length; ++i) {
    const value = values[take[i]!]!;
    result[i] = Number.isFinite(value) ? Math.min(Math.max((value - low) * factor, 0), share) + 0.25 / tableSize : 1;
  }
  return result;
}

/** The table: colours up to the moment, a bright line at the front, and `ahead` where the front has not been. */
function table(name: MapName, { low, high }: Range, moment: number | null, ahead: Color): Color[] {
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

export type PaneKind = SlotName | 'difference';

/** Everything there is to draw. */
export interface Shown {
  model: Model;
  geometry: Triangles;
  /** The same as it is drawn. */
  whole: DrawnMesh;
  /** The file's own lines: line i has the points offsets[i] to offsets[i + 1]. */
  lines: { points: Float32Array; offsets: Uint32Array };
  arrival: Partial<Record<SlotName, Arrival>>;
  clipped: Partial<Record<SlotName, Clipped>>;
  paths: Partial<Record<SlotName, Path[]>>;
  /** Surfaces of equal time inside a volume. */
  surfaces: Partial<Record<SlotName, LevelSurfaces>>;
  /** The array the surface is coloured by, when it is not the arrival. */
  array: { values: Float32Array; on: 'points' | 'cells'; name: string; range: Range } | null;
  fibers: Float32Array | null; // 2 points per line
  clipPlane: { point: Vec3; normal: Vec3 } | null;
}

const ink: Vec3 = [0.07, 0.07, 0.1];
const pathColor: Vec3 = [0.85, 0.1, 0.3];
const fileLineColor: Vec3 = [0.2, 0.45, 0.85];
const sourceColor: Vec3 = [1, 0.42, 0.1];
/** Of the outside, while something inside is shown. */
const glass = 0.3;
const otherSourceColor: Vec3 = [0.78, 0.3, 0.06];

function paneLayers({ renderer, front }: Pane, kind: PaneKind) {
  return {
    kind,
    renderer,
    surface: new SurfaceLayer(renderer),
    inside: new SurfaceLayer(renderer),
    fibers: new LineLayer(renderer, [1, 1, 1], 1),
    isochrones: new LineLayer(renderer, ink, 1.5),
    otherIsochrones: new LineLayer(renderer, ink, 1.5),
    paths: new LineLayer(renderer, pathColor, 4),
    /** The same once more over everything: a path through a volume runs below its surface. */
    hiddenPaths: new LineLayer(front, pathColor, 2.5, 0.75),
    fileLines: new LineLayer(renderer, fileLineColor, 2.5),
    balls: [] as BallLayer[],
  };
}

type PaneLayers = ReturnType<typeof paneLayers>;

/** What a pane's surface was drawn from: the same again costs nothing. */
interface Drawn {
  mesh: DrawnMesh;
  values: Float32Array | null;
  range: Range;
}

const noRange: Range = { low: 0, high: 0 };

export class MeshView {
  private panes: PaneLayers[] = [];
  private separate: DrawnMesh | null = null;
  private drawn = new Map<PaneLayers, Drawn>();
  private drawnInside = new Map<PaneLayers, { from: LevelSurfaces; count: number; range: Range }>();
  private fromClipped = new WeakMap<Triangles, DrawnMesh>();
  /** Of each pane, from left to right; null where there are no values. */
  legends: (LegendContent | null)[] = [];

  constructor(
    readonly stage: Stage,
    private readonly shown: Shown,
    public theme: Theme,
  ) {
    stage.beforeRender = () => this.placeBalls();
  }

  get kinds(): PaneKind[] {
    const { compare } = this.shown.model;
    return compare === 'off' ? ['a'] : compare === 'ab' ? ['a', 'b'] : ['a', 'b', 'difference'];
  }

  /** Everything anew, after anything that is not listed below has changed. */
  draw(): void {
    const kinds = this.kinds;
    if (kinds.join() !== this.panes.map((p) => p.kind).join()) {
      for (const layer of this.panes.flatMap((pane) => Object.values(pane).flat()))
        if (layer instanceof Layer) layer.remove();
      this.drawn.clear();
      this.drawnInside.clear();
      this.stage.setPanes(kinds.length);
      this.panes = kinds.map((kind, i) => paneLayers(this.stage.panes[i]!, kind));
      const { points, offsets } = this.shown.lines;
      for (const pane of this.panes) pane.fileLines.setLines(points, offsets);
    }
    this.stage.setBackground(this.theme.background);
    this.legends = this.panes.map((pane) => this.drawSurface(pane));
    this.drawMoment();
    for (const pane of this.panes) {
      this.drawFibers(pane);
      this.drawPaths(pane);
    }
    this.drawBalls();
    this.stage.render();
  }

  /** The moment of the front has changed, nothing else. */
  drawMoment(): void {
    for (const pane of this.panes) {
      pane.surface.setTable(this.tableOf(pane.kind));
      this.drawIsochrones(pane);
      this.drawInside(pane);
    }
    this.stage.render();
  }

  drawBalls(): void {
    const { sources, targets } = this.shown.model;
    for (const pane of this.panes) {
      while (pane.balls.length > sources.length + targets.length) pane.balls.pop()!.remove();
      while (pane.balls.length < sources.length + targets.length)
        pane.balls.push(new BallLayer(pane.renderer, sourceColor));
    }
    this.stage.render();
  }

  /** The triangles a pane shows, for picking. */
  surfaceOf(pane: number): { mesh: Triangles; times: Float32Array | null } {
    const kind = this.kinds[pane] ?? 'a';
    const slot = kind === 'difference' ? 'b' : kind;
    const clipped = this.shown.clipPlane === null ? undefined : this.shown.clipped[slot];
    if (clipped !== undefined) return { mesh: clipped, times: clipped.times };
    return { mesh: this.shown.geometry, times: this.shown.arrival[slot]?.times ?? null };
  }

  /** The times that colours stand for: from the earliest source to the latest arrival of all settings. */
  get timeRange(): Range {
    let [low, high] = [Infinity, -Infinity];
    const starts = this.shown.model.sources.map((s) => s.time);
    for (const kind of this.kinds) {
      const arrival = kind === 'difference' ? undefined : this.shown.arrival[kind];
      if (arrival !== undefined) [low, high] = [Math.min(low, ...starts), Math.max(high, arrival.maxTime)];
    }
    return Number.isFinite(low) ? { low, high } : { low: 0, high: 0 };
  }

  private drawSurface(pane: PaneLayers): LegendContent | null {
    const { kind } = pane;
    const shown = this.shown;
    const { array } = shown;
    if (array !== null && kind !== 'difference') {
      const onCells = array.on === 'cells';
      const mesh = onCells ? (this.separate ??= separateTriangles(shown.whole)) : shown.whole;
      const triangleOf = () => mesh.triangles.map((_, corner) => Math.floor(corner / 3));
      this.setSurface(pane, { mesh, values: array.values, range: array.range }, onCells ? triangleOf : undefined);
      return { title: array.name, unit: '', ...array.range, colors: mapColors('sequential'), grey: '' };
    }
    const values = this.valuesOf(kind);
    const cut = shown.clipPlane === null || kind === 'difference' ? undefined : shown.clipped[kind];
    const mesh = this.meshOf(values?.mesh ?? cut ?? shown.geometry);
    this.setSurface(pane, { mesh, values: values?.values ?? null, range: values?.range ?? noRange });
    if (values === null) return null;
    return {
      title: kind === 'difference' ? 'arrival, B − A' : 'arrival time',
      unit: this.shown.model.timeUnit || (shown.arrival.a?.unit ?? ''),
      ...values.range,
      colors: mapColors(values.map),
      grey: values.unreached ? 'not reached' : '',
    };
  }

  private valuesOf(
    kind: PaneKind,
  ): { mesh: Triangles; values: Float32Array; range: Range; map: MapName; unreached: boolean } | null {
    const { arrival, clipped, clipPlane, geometry } = this.shown;
    const of = (slot: SlotName) => {
      const found = arrival[slot];
      const cut = clipPlane === null ? undefined : clipped[slot];
      if (found === undefined) return null;
      // A cut from before the arrival has no times: the whole is shown until the next one comes.
      return cut?.times ? { mesh: cut, values: cut.times, found } : { mesh: geometry, values: found.times, found };
    };
    if (kind !== 'difference') {
      const one = of(kind);
      if (one === null) return null;
      return { ...one, range: this.timeRange, map: 'sequential', unreached: one.found.unreached > 0 };
    }
    const [a, b] = [of('a'), of('b')];
    if (a === null || b === null || a.values.length !== b.values.length) return null;
    const { values, largest } = difference(a.values, b.values);
    const range = { low: -(largest || 1), high: largest || 1 };
    return { mesh: a.mesh, values, range, map: 'difference', unreached: a.found.unreached + b.found.unreached > 0 };
  }

  private meshOf(triangles: Triangles): DrawnMesh {
    if (triangles === this.shown.geometry) return this.shown.whole;
    let mesh = this.fromClipped.get(triangles);
    if (mesh === undefined) this.fromClipped.set(triangles, (mesh = drawnMesh(triangles)));
    return mesh;
  }

  /** `takes` gives the value that each drawn vertex has, when it is not that of its own vertex. */
  private setSurface(pane: PaneLayers, now: Drawn, takes = () => now.mesh.vertexOf): void {
    const before = this.drawn.get(pane);
    const { mesh, values, range } = now;
    if (before?.mesh !== mesh) pane.surface.setMesh(mesh);
    else if (before.values === values && before.range.low === range.low && before.range.high === range.high) return;
    const flat = () => new Float32Array(mesh.vertexOf.length);
    pane.surface.setPlaces(values === null ? flat() : places(values, takes(), range));
    this.drawn.set(pane, now);
  }

  private tableOf(kind: PaneKind): Color[] {
    if (this.shown.array !== null && kind !== 'difference') {
      return table('sequential', this.shown.array.range, null, this.theme.ahead);
    }
    const values = this.valuesOf(kind);
    if (values === null) return Array.from({ length: tableSize }, () => this.theme.plain);
    const moment = kind === 'difference' ? null : this.shown.model.moment;
    return table(values.map, values.range, moment, this.theme.ahead);
  }

  private drawIsochrones(pane: PaneLayers): void {
    const { model, arrival, clipped, clipPlane } = this.shown;
    const draw = (layer: LineLayer, slot: SlotName | null, color: Vec3) => {
      const found = slot === null ? undefined : arrival[slot];
      layer.setVisible(found !== undefined && model.showIsochrones);
      if (found === undefined || slot === null || !model.showIsochrones) return;
      const cut = clipPlane === null ? undefined : clipped[slot];
      const lines = cut?.isochrones ?? found.isochrones;
      const until = pane.kind === 'difference' ? null : model.moment;
      layer.setColor(color);
      layer.setClip(cut !== undefined && cut.isochrones === null ? clipPlane : null);
      layer.setLines(lines.points, lines.offsets, (i) => until === null || lines.levels[i]! <= until);
    };
    if (pane.kind === 'difference') {
      draw(pane.isochrones, 'a', [0.1, 0.25, 0.6]);
      draw(pane.otherIsochrones, 'b', [0.65, 0.25, 0.05]);
    } else {
      draw(pane.isochrones, pane.kind, ink);
      draw(pane.otherIsochrones, null, ink);
    }
  }

  /** Surfaces of equal time. The outside is glass while there are some. */
  private drawInside(pane: PaneLayers): void {
    const { model, surfaces, clipPlane } = this.shown;
    const from = pane.kind === 'difference' || model.inside === '' ? undefined : surfaces[pane.kind];
    const shown = from !== undefined && from.triangles.length > 0;
    pane.inside.setVisible(shown);
    pane.surface.setOpacity(shown ? glass : 1);
    if (!shown) return;
    pane.inside.setClip(clipPlane);
    const until = model.inside === 'isochrones' ? model.moment : null;
    const count = until === null ? from.levels.length : from.levels.filter((level) => level <= until).length;
    const range = this.timeRange;
    const before = this.drawnInside.get(pane);
    const same = before?.range.low === range.low && before.range.high === range.high;
    if (before?.from === from && before.count === count && same) return;
    const now = surfacesUntil(from, until);
    const mesh = drawnMesh(now);
    pane.inside.setMesh(mesh);
    pane.inside.setPlaces(places(pointLevels(now), mesh.vertexOf, range));
    pane.inside.setTable(table('sequential', range, null, this.theme.ahead));
    this.drawnInside.set(pane, { from, count, range });
  }

  private drawFibers(pane: PaneLayers): void {
    const { fibers, clipPlane } = this.shown;
    pane.fibers.setVisible(fibers !== null);
    if (fibers === null) return;
    pane.fibers.setClip(clipPlane);
    pane.fibers.setLines(
      fibers,
      Uint32Array.from({ length: fibers.length / 6 + 1 }, (_, i) => 2 * i),
    );
  }

  private drawPaths(pane: PaneLayers): void {
    const paths = pane.kind === 'difference' ? [] : (this.shown.paths[pane.kind] ?? []);
    for (const layer of [pane.paths, pane.hiddenPaths]) layer.setVisible(paths.length > 0);
    if (paths.length === 0) return;
    const offsets = [0];
    for (const path of paths) offsets.push(offsets.at(-1)! + path.points.length / 3);
    const points = new Float32Array(3 * offsets.at(-1)!);
    paths.forEach((path, i) => points.set(path.points, 3 * offsets[i]!));
    for (const layer of [pane.paths, pane.hiddenPaths]) layer.setLines(points, Uint32Array.from(offsets));
  }

  /** Balls keep their size on the screen. */
  private placeBalls(): void {
    const { sources, targets, selected } = this.shown.model;
    const { camera, lens } = this.stage;
    for (const { balls } of this.panes) {
      balls.forEach((ball, i) => {
        const target = i >= sources.length;
        const point = target ? targets[i - sources.length]! : sources[i]!.point;
        const size = sizeAt(camera, lens, point) * (target ? 0.008 : i === selected ? 0.014 : 0.011);
        ball.place(point, size, target ? pathColor : i === selected ? sourceColor : otherSourceColor);
      });
    }
  }
}
