// The mesh mode: joins the model, the server's answers, the picture and the controls.
import { ApiError, wordsOf } from '../api';
import { type MakeMode, type ModeContext, StageMode } from '../stage_mode';
import type { DataSet, Vec3 } from '../types';
import { h, shortNumber } from '../ui/dom';
import { Overlay } from '../ui/overlay';
import { TimeBar } from '../ui/time_bar';
import { scale } from '../vec';
import { type Camera, frame } from '../view/camera';
import type { PointerHandlers } from '../view/pointer';
import { drawnMesh } from './drawn_mesh';
import { type PaneKind, type Shown, MeshView } from './mesh_view';
import { type Model, defaultModel, readStateFile, slotsOf, surfaceTimes } from './model';
import { Panel, type PanelActions, type Tool } from './panel';
import { pick, valueAt } from './pick';
import { type Part, OffMesh, Requests } from './requests';

const paneTitles: Record<PaneKind, string> = { a: 'A', b: 'B', difference: 'B − A' };
/** Picking a source takes no better aim than this, in pixels. */
const grabRadius = 14;
/** Milliseconds. */
const patience = 400;
/** Above this many triangles the time under the pointer is not shown: looking for it takes too long. */
const hoverLimit = 300_000;
/** Above this many triangles edges are not smoothed where the processor draws: most triangles are below a pixel then. */
const multisampleLimit = 200_000;

export class MeshMode extends StageMode implements PanelActions {
  protected readonly model: Model;
  private readonly overlay = new Overlay();
  private readonly timeBar: TimeBar;
  private readonly panel: Panel;
  readonly requests: Requests;
  private readonly shown: Shown;
  private view!: MeshView;
  /** The part whose failure is shown; null when none is. */
  private failedPart: Part | null = null;

  /** Reads the geometry, to be shown later. */
  static async load(data: DataSet, context: ModeContext): Promise<MakeMode> {
    const pack = await context.api.get(`${data.id}/geometry`);
    const geometry = { points: pack.floats('points'), triangles: pack.ids('triangles') };
    const lines = { points: pack.floats('line_points'), offsets: pack.ids('line_offsets') };
    const whole = drawnMesh(geometry);
    return (root, { software }) => {
      const multisample = !software || geometry.triangles.length <= 3 * multisampleLimit;
      return new MeshMode(root, data, context, { geometry, whole, lines }, multisample);
    };
  }

  private constructor(
    root: HTMLElement,
    data: DataSet,
    context: ModeContext,
    file: Pick<Shown, 'geometry' | 'whole' | 'lines'>,
    multisample: boolean,
  ) {
    super(data, context, { multisample });
    this.model = defaultModel(data);
    this.shown = {
      ...file,
      model: this.model,
      arrival: {},
      clipped: {},
      paths: {},
      surfaces: {},
      array: null,
      fibers: null,
      clipPlane: null,
    };
    this.requests = new Requests(
      context.api,
      data,
      this.shown,
      (part) => this.answered(part),
      (error, part) => this.partFailed(error, part),
      this.ended.signal,
    );
    this.timeBar = new TimeBar((moment) => {
      this.model.moment = moment;
      this.view.drawMoment();
      this.overlay.setCaption(this.caption());
      if (this.model.inside === 'front') this.requests.want('surfaces');
    });
    this.panel = new Panel(data, this.model, this);
    this.status.setAttribute('aria-live', 'off'); // it changes with every movement of a source
    this.stageBox.setAttribute('aria-label', `${data.name}: arrow keys move the source, question mark for help`);
    const frame = h('div', { class: 'stage-frame' }, this.stageBox, this.overlay.element);
    this.open(root, this.panel.element, frame, this.timeBar.element);
    this.listenToKeys();
  }

  override dispose(): void {
    this.timeBar.stop();
    super.dispose();
  }

  /** Asks for everything again, after the connection was lost. */
  refresh(): void {
    this.requests.wantArrivals();
  }

  /** Shows how far the server is, once it takes a noticeable time. */
  progress(stage: string, fraction: number): void {
    if (this.requests.waiting > patience) this.status.textContent = `${stage}: ${Math.round(100 * fraction)} %`;
  }

  override setTheme(): void {
    this.view.theme = this.context.theme();
    this.redraw();
  }

  protected picture(): HTMLCanvasElement {
    return this.overlay.painted(this.stage.canvas, this.stageBox.clientWidth);
  }

  /** Formats that hold such a mesh, of each setting that is shown. */
  exports(): [string, string][] {
    if (!this.data.solvable) return [];
    const formats = this.data.tets > 0 ? ['vtu', 'vtk', 'csv', 'npy'] : ['vtp', 'vtu', 'vtk', 'ply', 'csv', 'npy'];
    const slots = slotsOf(this.model.compare);
    const of = (slot: string) => (slots.length > 1 ? `times of ${slot.toUpperCase()}` : 'times');
    return slots.flatMap((slot) => formats.map((f): [string, string] => [`${slot}/${f}`, `${of(slot)} as .${f}`]));
  }

  protected exportRequest(name: string): object {
    const [slot, format] = name.split('/');
    return { slot, format };
  }

  protected readState(text: string): Camera | null {
    const { model, camera, from } = readStateFile(text, this.data);
    Object.assign(this.model, model);
    if (from !== this.data.name) {
      this.context.notices.show('state', 'warning', `The state was saved for ${from}; shown is ${this.data.name}.`);
    }
    return camera;
  }

  protected stateRead(): void {
    this.context.exportsChanged();
    this.timeBar.set(this.model.moment, false);
    this.panel.drawAll();
    this.requests.want('fibers', 'array');
    this.sourcesChanged();
    this.requests.want('clip');
  }

  protected fillStage(): void {
    this.view = new MeshView(this.stage, this.shown, this.context.theme());
    this.redraw();
  }

  protected override pointer(): PointerHandlers {
    return {
      grab: (x, y) => this.grab(x, y),
      drag: (x, y) => this.dragTo(x, y),
      drop: () => this.panel.drawSources(),
      click: (x, y, keys) => this.click(x, y, keys.shift ? 'path' : keys.control ? 'add' : this.panel.clickTool),
      hover: (x, y) => this.hover(x, y),
    };
  }

  redraw(): void {
    this.view.draw();
    const kinds = this.view.kinds;
    this.overlay.setPanes(
      kinds.map((kind, i) => ({
        title: kinds.length > 1 ? paneTitles[kind] : '',
        legend: this.view.legends[i] ?? null,
      })),
    );
    const { low, high } = this.view.timeRange;
    this.timeBar.setRange(low, high, this.model.timeUnit);
    this.overlay.setHint(this.hint());
    this.overlay.setCaption(this.caption());
    this.showStatus();
  }

  /** The moment of the front, where one is drawn. */
  private caption(): string {
    const { moment, inside, timeUnit } = this.model;
    const { a: arrival } = this.shown.arrival;
    if (arrival === undefined || (moment === null && inside !== 'front')) return '';
    const half = () =>
      surfaceTimes(this.model, { lines: arrival.isochrones.levels, maxTime: arrival.maxTime })[0] ?? NaN;
    return `front at ${shortNumber(moment ?? half())} ${timeUnit}`.trim();
  }

  private hint(): string {
    const { geometry, lines } = this.shown;
    if (geometry.triangles.length === 0 && lines.offsets.length < 2) return 'There is nothing to draw in this file.';
    if (!this.data.solvable) return `Times cannot be computed here: ${this.data.why}`;
    return this.model.sources.length === 0 ? 'Click the surface to start a front there' : '';
  }

  private answered(part: Part): void {
    if (this.failedPart === null || this.failedPart === part) this.clearFailure();
    if (part === 'paths') this.panel.drawPaths(this.shown.paths);
    // Once a clip is under way the picture waits for it, so that the cut does not flicker.
    const waits = (part === 'a' || part === 'b') && this.model.clip.on && this.shown.clipPlane !== null;
    if (!waits) this.redraw();
  }

  private clearFailure(): void {
    this.failedPart = null;
    this.context.notices.hide('error');
  }

  private partFailed(error: unknown, part: Part): void {
    if (this.over || (error instanceof ApiError && error.quiet)) return;
    if (error instanceof OffMesh) {
      this.dropSources(error);
      return;
    }
    this.failedPart = part;
    this.failed(error);
  }

  /** Sources of another mesh, or of this one before it was read again: the others are solved for. */
  private dropSources(why: OffMesh): void {
    const { sources } = this.model;
    const names = why.sources.map((source) => `Source ${sources.indexOf(source) + 1}`).join(', ');
    this.model.sources = sources.filter((source) => !why.sources.includes(source));
    this.model.selected = this.model.sources.length - 1;
    if (names !== '')
      this.context.notices.show('sources', 'warning', `Not on the mesh, and left out: ${names} (${wordsOf(why)})`);
    this.panel.drawSources();
    this.sourcesChanged();
  }

  private showStatus(): void {
    const { a: arrival, b: other } = this.shown.arrival;
    this.context.notices.list('notes', 'warning', [...new Set([...(arrival?.notes ?? []), ...(other?.notes ?? [])])]);
    if (arrival === undefined) {
      this.status.textContent = '';
      return;
    }
    const parts = [
      `${arrival.milliseconds.toFixed(1)} ms on the server (solve ${arrival.solveMilliseconds.toFixed(1)} ms)`,
      `${this.requests.roundTrip.toFixed(0)} ms in all`,
      `latest arrival ${shortNumber(arrival.maxTime)}`,
      `isochrones every ${shortNumber(arrival.spacing)}`,
    ];
    if (arrival.unreached > 0) parts.push(`${arrival.unreached.toLocaleString('en')} vertices not reached`);
    this.status.textContent = parts.join(' · ');
    this.status.dataset['latest'] = String(arrival.maxTime);
    this.status.dataset['spacing'] = String(arrival.spacing);
  }

  sourcesChanged(): void {
    this.view.drawBalls();
    this.overlay.setHint(this.hint());
    if (this.data.solvable) this.requests.wantArrivals();
  }

  compareChanged(): void {
    if (this.failedPart === 'b' && this.model.compare === 'off') this.clearFailure();
    this.context.exportsChanged();
    this.requests.wantArrivals();
    if (this.model.clip.on) this.requests.want('clip');
    if (this.model.inside !== '') this.requests.want('surfaces');
    this.panel.drawPaths(this.shown.paths);
    this.redraw();
  }

  targetsChanged(): void {
    this.view.drawBalls();
    this.panel.drawPaths(this.shown.paths);
    this.requests.want('paths');
  }

  alignClip(): void {
    this.model.clip.normal = scale(frame(this.stage.camera)[2], -1); // the near side goes
    this.requests.want('clip');
  }

  /** The point of the surface under a place of the screen. */
  private surfacePoint(x: number, y: number): { point: Vec3; time: number } | null {
    const { pane, ray } = this.stage.rayAt(x, y);
    const { mesh, times } = this.view.surfaceOf(pane);
    const hit = pick(mesh, ray);
    if (hit === null) return null;
    return { point: hit.point, time: times === null ? NaN : valueAt(mesh, times, hit) };
  }

  private grab(x: number, y: number): boolean {
    const { pane } = this.stage.rayAt(x, y);
    const found = this.model.sources.findIndex(({ point }) => {
      const place = this.stage.screenPlace(pane, point);
      return place !== null && Math.hypot(place[0] - x, place[1] - y) < grabRadius;
    });
    if (found < 0) return false;
    this.model.selected = found;
    this.view.drawBalls();
    this.panel.drawSources();
    return true;
  }

  private dragTo(x: number, y: number): void {
    const found = this.surfacePoint(x, y);
    const source = this.model.sources[this.model.selected];
    if (found === null || source === undefined) return;
    source.point = found.point;
    this.sourcesChanged();
  }

  private click(x: number, y: number, tool: Tool): void {
    if (!this.data.solvable) {
      this.context.notices.show('error', 'error', `Times cannot be computed here: ${this.data.why}`);
      return;
    }
    const found = this.surfacePoint(x, y);
    if (found === null) return;
    if (tool === 'path') {
      if (this.model.sources.length === 0) {
        this.context.notices.show('error', 'info', 'A path leads back to a source: set one first.');
        return;
      }
      this.model.targets.push(found.point);
      this.targetsChanged();
      return;
    }
    this.context.notices.hide('sources');
    const selected = this.model.sources[this.model.selected];
    if (tool === 'set' && selected !== undefined) selected.point = found.point;
    else this.model.selected = this.model.sources.push({ point: found.point, time: 0 }) - 1;
    this.panel.drawSources();
    this.sourcesChanged();
  }

  private hover(x: number, y: number): void {
    if (this.shown.geometry.triangles.length > 3 * hoverLimit || this.shown.arrival.a === undefined) return;
    const found = this.surfacePoint(x, y);
    const time = found === null || Number.isNaN(found.time) ? '' : shortNumber(found.time);
    this.stageBox.title = time === '' ? '' : `${time} ${this.model.timeUnit}`.trim();
  }

  private listenToKeys(): void {
    const { model } = this;
    const deleteSource = () => {
      if (model.sources[model.selected] === undefined) return;
      model.sources.splice(model.selected, 1);
      model.selected = Math.min(model.selected, model.sources.length - 1);
      this.panel.drawSources();
      this.sourcesChanged();
    };
    const keys = {
      n: () => {
        if (model.sources.length > 0) model.selected = (model.selected + 1) % model.sources.length;
        this.panel.drawSources();
        this.view.drawBalls();
      },
      Delete: deleteSource,
      Backspace: deleteSource,
      '1': () => this.panel.chooseTool('set'),
      '2': () => this.panel.chooseTool('add'),
      '3': () => this.panel.chooseTool('path'),
      '[': () => this.timeBar.step(-1),
      ']': () => this.timeBar.step(1),
      ' ': () => this.timeBar.toggle(),
      i: () => {
        model.showIsochrones = !model.showIsochrones;
        this.panel.drawDisplay();
        this.redraw();
      },
      f: () => {
        if (this.data.tets === 0) return;
        model.inside = model.inside === '' ? 'front' : '';
        this.panel.drawDisplay();
        this.requests.want('surfaces');
      },
      c: () => {
        if (this.data.tets === 0) return;
        model.clip.on = !model.clip.on;
        this.panel.drawDisplay();
        this.requests.want('clip');
      },
      Escape: () => {
        this.panel.chooseTool('set');
        this.timeBar.set(null);
      },
      Enter: () => {
        const box = this.stageBox.getBoundingClientRect();
        const middle = box.left + box.width / this.view.kinds.length / 2;
        this.click(middle, box.top + box.height / 2, this.panel.clickTool);
      },
    };
    this.followKeys(
      keys,
      (x, y, { shiftKey }) =>
        () =>
          shiftKey ? this.turn(x, y) : this.moveSource(x, y),
    );
  }

  private moveSource(x: number, y: number): void {
    const source = this.model.sources[this.model.selected];
    const place = source === undefined ? null : this.stage.screenPlace(0, source.point);
    const step = this.stage.paneSize / 60;
    if (place === null) this.turn(x, y);
    else this.dragTo(place[0] + x * step, place[1] - y * step);
    this.panel.drawSources();
  }
}
