// The surface mode: an isovalue, particles that settle on its surface, and the mesh made of them.
import { ApiError } from '../api';
import type { Color } from '../color_map';
import type { ServerEvent } from '../events';
import { pick } from '../mesh/pick';
import type { Pack } from '../pack';
import { Refresh } from '../refresh';
import { SlicedMode, volumeOf } from '../slices/sliced_mode';
import { type Paint, type Volume, axes, section } from '../slices/volume';
import type { MakeMode, ModeContext } from '../stage_mode';
import type { DataSet, Vec3 } from '../types';
import { h, shortNumber } from '../ui/dom';
import { Overlay } from '../ui/overlay';
import { norm, sub } from '../vec';
import type { Camera } from '../view/camera';
import type { PointerHandlers } from '../view/pointer';
import { type Particles, pickParticle, readParticles } from './particles';
import {
  type SurfaceModel,
  defaultSurfaceModel,
  maxPlaces,
  placeCount,
  readSurfaceState,
  surfaceRequest,
} from './surface_model';
import { type SurfaceActions, SurfacePanel, readFacts } from './surface_panel';
import { type Made, SurfaceView, brushColor, surfaceLegend } from './surface_view';
import { type Histogram, greyRange, partingValue, readHistogram } from './histogram';

const formats = ['ply', 'stl', 'vtp', 'vtu', 'vtk', 'off', 'obj'];
/** Places of a stroke are so many radii apart. */
const strokeStep = 0.8;
/** Above this many triangles the brush is not shown under the pointer: looking for its place takes too long. */
const hoverLimit = 300_000;
const sectionColor: Color = [255, 255, 255];

export class SurfaceMode extends SlicedMode implements SurfaceActions {
  protected readonly model: SurfaceModel;
  private readonly overlay = new Overlay();
  private readonly panel: SurfacePanel;
  private readonly frames: Refresh<'particles'>;
  private readonly grey: [number, number];
  protected view!: SurfaceView;
  /** While a surface is made, what was asked for. */
  private running: string | null = null;
  private made: (Made & { request: string }) | null = null;
  /** The server no longer has the mesh, so that it cannot write it to a file. */
  private lost = false;
  /** The particles as they were last seen. */
  private seen: Particles | null = null;
  private cursor: Vec3 | null = null;
  private settling = '';
  private drawnFrames = 0;

  /** Reads the values, to be shown later. */
  static async load(data: DataSet, context: ModeContext): Promise<MakeMode> {
    const volume = volumeOf(data);
    const histogram = readHistogram(await context.api.get(`${data.id}/histogram`));
    const values = (await context.api.get(`${data.id}/volume/values`)).floats('values');
    return (root) => new SurfaceMode(root, data, context, volume, histogram, values);
  }

  private constructor(
    root: HTMLElement,
    data: DataSet,
    context: ModeContext,
    volume: Volume,
    histogram: Histogram,
    private readonly values: Float32Array,
  ) {
    super(data, context, volume, {});
    this.model = defaultSurfaceModel(data, partingValue(histogram));
    this.grey = greyRange(histogram);
    this.frames = new Refresh(() => this.fetchParticles(), this.ended.signal);
    this.panel = new SurfacePanel(data, this.model, histogram, this);
    const [sagittal, coronal, axial] = this.slices.map(({ canvas }) => h('div', { class: 'quarter' }, canvas));
    const frame = h('div', { class: 'stage-frame' }, this.stageBox, this.overlay.element);
    this.open(root, this.panel.element, h('div', { class: 'beside-slices' }, frame, axial!, coronal!, sagittal!));
    this.listenToKeys();
  }

  override dispose(): void {
    super.dispose();
    if (this.running !== null) void this.stop();
  }

  /**
   * The server ends the work of a page whose line went down and drops its mesh: what was under way is asked for again,
   * what is shown stays.
   */
  refresh(): void {
    if (this.made !== null) {
      this.lost = true;
      this.redraw();
    } else if (this.model.started && this.running === null) void this.start();
  }

  progress(stage: string, fraction: number): void {
    if (this.running === null) return;
    const share = fraction > 0 ? ` ${Math.round(100 * fraction)} %` : ' …';
    this.status.textContent = stage === 'particles' && this.settling !== '' ? this.settling : `${stage}${share}`;
  }

  override particles({ iteration, count, energy }: ServerEvent): void {
    if (this.running === null) return;
    this.settling = `settling: iteration ${iteration} · ${count.toLocaleString('en')} particles · energy ${shortNumber(energy)}`;
    this.status.textContent = this.settling;
    this.frames.want('particles');
  }

  override setTheme(): void {
    super.setTheme();
    this.redraw();
  }

  /** The 3-D view with its legend, and the slices beside it. */
  protected picture(): HTMLCanvasElement {
    const { canvas } = this.stage;
    const space = this.overlay.painted(canvas, this.stageBox.clientWidth);
    const width = Math.max(...this.slices.map((slice) => slice.canvas.width));
    const picture = h('canvas', { width: canvas.width + width, height: canvas.height });
    const context = picture.getContext('2d')!;
    context.drawImage(space, 0, 0);
    let top = 0;
    for (const slice of [this.slices[2]!, this.slices[1]!, this.slices[0]!]) {
      context.drawImage(slice.canvas, canvas.width, top);
      top += slice.canvas.height;
    }
    return picture;
  }

  exports(): [string, string][] {
    return this.made === null || this.lost ? [] : formats.map((format) => [format, `surface as .${format}`]);
  }

  protected exportRequest(format: string): object {
    return { format };
  }

  protected readState(text: string): Camera | null {
    const { model, camera } = readSurfaceState(text, this.model, this.data.labels ?? []);
    Object.assign(this.model, model);
    return camera;
  }

  protected stateRead(): void {
    this.panel.drawAll();
    this.drawSlices();
    this.redraw();
    if (this.model.started) void this.start();
  }

  protected fillStage(): void {
    this.view = new SurfaceView(this.stage, this.volume);
    this.view.setParticles(this.seen);
    this.drawSlices();
    this.redraw();
  }

  protected override pointer(): Partial<PointerHandlers> {
    return {
      grab: (x, y) => this.beginStroke(x, y),
      drag: (x, y) => this.brushAt(x, y),
      drop: () => this.strokesChanged(),
      hover: (x, y) => this.hover(x, y),
    };
  }

  protected picked(place: Vec3): void {
    this.model.crosshair = place;
    this.drawSlices();
  }

  objectChanged(): void {
    this.drawSlices();
    this.showHint();
  }

  redraw(): void {
    const { model, made, seen: particles } = this;
    this.view.slices.setVisible(model.showSlices || (made === null && particles === null));
    this.view.setMesh(made, model, this.context.theme());
    this.drawBrush();
    this.overlay.setPanes([{ title: '', legend: surfaceLegend(model, particles, made, this.data.units) }]);
    this.context.exportsChanged();
    this.showHint();
  }

  /** What is to be done next, over the view. */
  showHint(): void {
    const changed = this.made !== null && this.made.request !== JSON.stringify(surfaceRequest(this.model));
    let hint = '';
    if (!this.data.solvable) hint = `A surface cannot be made here: ${this.data.why}`;
    else if (this.running !== null) hint = '';
    else if (changed) hint = 'The choices have changed: press Start (Enter) for their surface';
    else if (this.lost) hint = 'The connection was lost: to export the surface, press Start (Enter) to make it again';
    else if (this.made === null) hint = `Choose the ${this.model.by}, then press Start (Enter)`;
    this.overlay.setHint(hint);
  }

  /** Grey, and tinted inside the object. */
  protected paint(): Paint {
    const { values, grey } = this;
    const { by, label, isovalue, inside } = this.model;
    const span = grey[1] - grey[0] || 1;
    return (voxel, rgb, at) => {
      const value = values[voxel]!;
      if (!Number.isFinite(value)) return;
      const light = 20 + 235 * Math.min(Math.max((value - grey[0]) / span, 0), 1);
      const tinted = by === 'label' ? value === label : value >= isovalue === (inside === 'above');
      rgb[at] = light * (tinted ? 0.55 : 1);
      rgb[at + 1] = tinted ? 0.6 * light + 50 : light;
      rgb[at + 2] = tinted ? 0.6 * light + 90 : light;
    };
  }

  protected overSlices() {
    const { made } = this;
    const { crosshair, strokes } = this.model;
    const balls = strokes.flatMap(({ points, radius }) =>
      points.map((point) => ({ point, radius, color: brushColor, letter: '', strong: false })),
    );
    if (made === null) return { balls, paths: [] };
    const segments = axes.map((axis) => section(made, axis, crosshair[axis]));
    return { balls, paths: [], sections: { segments, color: sectionColor } };
  }

  async start(): Promise<void> {
    if (!this.data.solvable) return;
    const { api, notices } = this.context;
    const asked = surfaceRequest(this.model);
    const request = JSON.stringify(asked);
    this.running = request;
    this.model.started = true;
    this.made = null;
    this.lost = false;
    this.settling = '';
    this.panel.setRunning(true);
    this.panel.drawQuality(null);
    notices.hide('error');
    for (const name of ['triangles', 'vertices', 'particles', 'mean']) delete this.status.dataset[name];
    this.status.textContent = 'asking …';
    this.redraw();
    this.drawOverlays();
    try {
      const pack = await api.post(this.address('surface'), { seq: api.nextSequence(), ...asked });
      if (this.over || this.running !== request) return;
      this.showMade(pack, request);
    } catch (error) {
      if (this.over || this.running !== request) return;
      this.status.textContent = error instanceof ApiError && error.superseded ? 'stopped' : '';
      this.failed(error);
    }
    this.running = null;
    this.panel.setRunning(false);
    this.redraw();
    this.drawOverlays();
  }

  async stop(): Promise<void> {
    this.model.started = false;
    try {
      await this.context.api.send(this.address('cancel'), {});
    } catch (error) {
      this.failed(error);
    }
  }

  private showMade(pack: Pack, request: string): void {
    const facts = readFacts(pack);
    this.made = {
      points: pack.floats('points'),
      triangles: pack.ids('triangles'),
      quality: pack.floats('quality'),
      sizes: pack.floats('sizes'),
      request,
    };
    this.seen = null;
    this.view.setParticles(null);
    this.panel.drawQuality(facts);
    const count = (n: number) => n.toLocaleString('en');
    const parts = [
      `${count(facts.vertices)} vertices, ${count(facts.triangles)} triangles`,
      `${count(pack.number('iterations'))} iterations${pack.meta['converged'] === false ? ', not settled' : ''}`,
      `${pack.number('milliseconds').toFixed(0)} ms on the server`,
    ];
    this.status.textContent = parts.join(' · ');
    Object.assign(this.status.dataset, {
      vertices: String(facts.vertices),
      triangles: String(facts.triangles),
      mean: String(facts.mean),
    });
    this.context.notices.list('notes', 'warning', pack.notes);
  }

  private async fetchParticles(): Promise<void> {
    const { api } = this.context;
    try {
      const pack = await api.get(this.address(`surface/particles?client=${api.client}`));
      if (this.running === null || this.over) return;
      this.seen = readParticles(pack);
      this.view.setParticles(this.seen);
      this.redraw();
      this.status.dataset['particles'] = String(this.seen.sizes.length);
      this.status.dataset['frames'] = String(++this.drawnFrames);
      await new Promise((resolve) => requestAnimationFrame(resolve)); // not faster than the screen
    } catch (error) {
      this.failed(error);
    }
  }

  /** The point of the mesh, or of the particles, under a place of the screen. */
  private surfacePoint(x: number, y: number): Vec3 | null {
    const { ray } = this.stage.rayAt(x, y);
    if (this.made !== null) return pick(this.made, ray)?.point ?? null;
    return this.seen === null ? null : pickParticle(this.seen, ray);
  }

  private beginStroke(x: number, y: number): boolean {
    const point = this.panel.tool === 'brush' ? this.surfacePoint(x, y) : null;
    if (point === null) return false;
    if (placeCount(this.model.strokes) >= maxPlaces) {
      this.context.notices.show('error', 'error', `The brush has ${maxPlaces} places at most; delete some strokes.`);
      return false;
    }
    this.model.strokes.push({ points: [point], ...this.model.brush });
    this.drawBrush(point);
    return true;
  }

  private brushAt(x: number, y: number): void {
    const stroke = this.model.strokes.at(-1);
    const point = this.surfacePoint(x, y);
    if (stroke === undefined || point === null) return;
    const apart = stroke.points.every((other) => norm(sub(point, other)) >= strokeStep * stroke.radius);
    if (apart && placeCount(this.model.strokes) < maxPlaces) stroke.points.push(point);
    this.drawBrush(point);
  }

  strokesChanged(): void {
    this.panel.drawBrush();
    this.drawBrush();
    this.drawOverlays();
    this.showHint();
  }

  private hover(x: number, y: number): void {
    if (this.panel.tool !== 'brush' || (this.made?.triangles.length ?? 0) > 3 * hoverLimit) return;
    this.drawBrush(this.surfacePoint(x, y));
  }

  /** Where it has been and where it is; only while it is in hand, because it covers the surface. */
  drawBrush(cursor = this.cursor): void {
    this.cursor = cursor;
    const inHand = this.panel.tool === 'brush';
    this.view.setBrush(this.model.brush.radius, inHand ? this.model.strokes : [], inHand ? cursor : null);
  }

  private brushMiddle(): void {
    const box = this.stageBox.getBoundingClientRect();
    this.panel.chooseTool('brush');
    if (this.beginStroke(box.left + box.width / 2, box.top + box.height / 2)) this.strokesChanged();
  }

  private escape(): void {
    if (this.running !== null) void this.stop();
    else this.panel.chooseTool('look');
  }

  private listenToKeys(): void {
    const keys = {
      Enter: () => this.running === null && void this.start(),
      Escape: () => this.escape(),
      '1': () => this.panel.chooseTool('look'),
      '2': () => this.panel.chooseTool('brush'),
      b: () => this.brushMiddle(),
      u: () => this.panel.undo(),
      e: () => {
        this.model.showEdges = !this.model.showEdges;
        this.panel.drawDisplay();
        this.redraw();
      },
    };
    this.followKeys(keys, (x, y, { target }) => (target === this.stageBox ? () => this.turn(x, y) : undefined));
  }
}
