// The tensor mode: three slices, two regions, and the pathway between them.
import { ApiError } from '../api';
import type { MakeMode, Mode, ModeContext } from '../mode';
import type { Pack } from '../pack';
import { Refresh } from '../refresh';
import type { SliceBall } from '../slices/slice_view';
import { SliceView } from '../slices/slice_view';
import type { Axis } from '../slices/volume';
import { Volume, axes } from '../slices/volume';
import type { DataSet, Vec3 } from '../types';
import { download, h, shortNumber } from '../ui/dom';
import { unit } from '../vec';
import type { Shape } from '../view/layers';
import { afterLoss } from '../view/context_loss';
import { followPointer } from '../view/pointer';
import { Stage } from '../view/stage';
import type { Profile } from './profile';
import type { Pathway, Region, TensorModel } from './tensor_model';
import { defaultTensorModel, readTensorState, tensorStateFile } from './tensor_model';
import { TensorPanel } from './tensor_panel';
import { TensorView } from './tensor_view';

/** What the server has found for a pathway. */
export interface Found {
  leastCost: number;
  length: number;
  meanFa: number;
  voxels: number;
  volume: number;
  milliseconds: number;
  solveMilliseconds: number;
  path: Float32Array;
  profile: Profile;
  tube: Shape;
  surface: Shape;
  glyphs: Shape | null;
}

const mostGlyphs = 3000;
/** Files of a pathway that the server writes: a name for the menu's entry, its words, and what is asked for. */
const fileExports: readonly (readonly [string, string, { format: string; what?: string }])[] = [
  ['csv', 'profile as .csv', { format: 'csv' }],
  ['tck', 'path as .tck', { format: 'tck' }],
  ['vtp', 'path as .vtp', { format: 'vtp' }],
  ['pathway', 'voxels as .nii.gz', { format: 'nii.gz', what: 'pathway' }],
  ['cost', 'cost as .nii.gz', { format: 'nii.gz', what: 'cost' }],
];
const fromAbove: Vec3 = unit([0.3, -0.8, 0.9]);

function readShape(pack: Pack, prefix: string): Shape {
  const colors = pack.has(`${prefix}colors`) ? pack.bytes(`${prefix}colors`) : null;
  return {
    points: pack.floats(`${prefix}points`),
    normals: pack.floats(`${prefix}normals`),
    triangles: pack.ids(`${prefix}triangles`),
    colors,
  };
}

function readFound(pack: Pack): Found {
  return {
    leastCost: pack.number('least_cost'),
    length: pack.number('length'),
    meanFa: pack.number('mean_fa'),
    voxels: pack.number('voxels'),
    volume: pack.number('volume'),
    milliseconds: pack.number('milliseconds'),
    solveMilliseconds: pack.number('solve_milliseconds'),
    path: pack.floats('path'),
    profile: {
      distance: pack.floats('profile_distance'),
      fa: pack.floats('profile_fa'),
      cost: pack.floats('profile_cost'),
    },
    tube: readShape(pack, 'tube_'),
    surface: readShape(pack, 'pathway_'),
    glyphs: null,
  };
}

export class TensorMode implements Mode {
  private readonly model: TensorModel;
  private readonly found = new Map<string, Found>();
  /** Names of the pathways that the server keeps. */
  private readonly kept = new Set<string>();
  private readonly stageBox = h('div', { class: 'stage', tabindex: 0, role: 'application', 'aria-label': '3-D view' });
  private readonly status = h('output', { class: 'status' });
  private readonly slices: SliceView[];
  private readonly panel: TensorPanel;
  private readonly requests: Refresh<string>;
  private readonly glyphs: Refresh<string>;
  private readonly ended = new AbortController();
  private readonly contextLost: () => void;
  private stage!: Stage;
  private view!: TensorView;
  /** Counts what was to be shown as fog: an answer for an earlier one comes too late. */
  private fogs = 0;

  /** Reads the volumes, to be shown later. */
  static async load(data: DataSet, context: ModeContext): Promise<MakeMode> {
    if (data.shape === undefined || data.spacing === undefined || data.affine === undefined)
      throw new Error('the image has no shape');
    const volume = new Volume(data.shape, data.spacing, data.affine, data.bounds);
    const fa = (await context.api.get(`${data.id}/volume/fa`)).floats('values');
    const directions = (await context.api.get(`${data.id}/volume/direction`)).bytes('values');
    return (root) => new TensorMode(root, data, context, volume, fa, directions);
  }

  private constructor(
    root: HTMLElement,
    private readonly data: DataSet,
    private readonly context: ModeContext,
    private readonly volume: Volume,
    private readonly fa: Float32Array,
    private readonly directions: Uint8Array,
  ) {
    this.model = defaultTensorModel(data);
    this.contextLost = afterLoss(context.notices, this.ended.signal, () => this.remakeStage());
    this.requests = new Refresh((name) => this.renew(name), this.ended.signal);
    this.glyphs = new Refresh((name) => this.addGlyphs(name), this.ended.signal);
    const handlers = {
      point: (place: Vec3) => this.picked(place),
      scroll: (axis: Axis, voxels: number) => this.scroll(axis, voxels),
    };
    this.slices = axes.map((axis) => new SliceView(axis, volume, handlers));
    this.panel = new TensorPanel(data, this.model, volume.smallestSpacing, {
      pathwayChanged: (i) => this.pathwayChanged(i),
      pathwayRemoved: (name) => this.pathwayRemoved(name),
      activeChanged: () => {
        this.redraw();
        void this.drawFog();
      },
      backgroundChanged: () => this.drawSlices(),
      displayChanged: () => this.displayChanged(),
      fogChanged: () => void this.drawFog(),
    });
    const box = (...children: Node[]) => h('div', { class: 'quarter' }, ...children);
    const [sagittal, coronal, axial] = this.slices.map((slice) => box(slice.canvas));
    root.replaceChildren(
      h('main', {}, h('div', { class: 'quarters' }, axial!, coronal!, sagittal!, box(this.stageBox)), this.status),
      this.panel.element,
    );
    this.makeStage();
    this.followKeys();
    new ResizeObserver(() => this.drawOverlays()).observe(this.slices[0]!.canvas);
    if (data.warnings.length > 0) context.notices.show('warnings', 'info', data.warnings.join(' · '));
    this.status.textContent = 'Choose "Region A" and click a slice, then "Region B".';
  }

  dispose(): void {
    this.ended.abort();
    this.stage.dispose();
  }

  /** The server drops what it kept for a page whose line went down. */
  refresh(): void {
    this.kept.clear();
    for (const pathway of this.model.pathways) this.want(pathway);
  }

  progress(stage: string, fraction: number): void {
    if (this.requests.busy) this.status.textContent = `${stage}: ${Math.round(100 * fraction)} %`;
  }

  setTheme(): void {
    this.stage.setBackground(this.context.theme().background);
  }

  /** Axial, coronal, sagittal and the 3-D view on one picture. */
  async savePicture(): Promise<void> {
    this.stage.renderNow();
    const { canvas } = this.stage;
    const picture = h('canvas', { width: 2 * canvas.width, height: 2 * canvas.height });
    const context = picture.getContext('2d')!;
    const [w, hgt] = [canvas.width, canvas.height];
    context.drawImage(canvas, w, hgt, w, hgt);
    [this.slices[2]!, this.slices[1]!, this.slices[0]!].forEach((slice, i) => {
      context.drawImage(slice.canvas, (i % 2) * w, Math.floor(i / 2) * hgt, w, hgt);
    });
    picture.toBlob((blob) => blob !== null && download(blob, `${this.baseName()}.png`), 'image/png');
  }

  exports(): [string, string][] {
    const found = this.model.pathways.filter(({ name }) => this.found.has(name));
    return found.flatMap(({ name }) =>
      fileExports.map(([what, label]): [string, string] => [`${what}/${name}`, `${name}, ${label}`]),
    );
  }

  async saveData(chosen: string): Promise<void> {
    const slash = chosen.indexOf('/');
    const name = chosen.slice(slash + 1);
    const wanted = fileExports.find(([what]) => what === chosen.slice(0, slash))?.[2];
    try {
      const file = await this.context.api.file(`${this.data.id}/export`, { name, ...wanted });
      download(file.blob, file.name);
    } catch (error) {
      this.context.notices.show('error', 'error', error instanceof Error ? error.message : String(error));
    }
  }

  saveState(): void {
    download(new Blob([this.stateText()], { type: 'application/json' }), `${this.baseName()}.view.json`);
  }

  stateText(): string {
    return tensorStateFile(this.model, this.stage.camera, this.data);
  }

  loadState(text: string): void {
    const before = this.model.pathways.map(({ name }) => name);
    try {
      const { model, camera } = readTensorState(text, this.data);
      Object.assign(this.model, model);
      if (camera !== null) this.stage.setCamera(camera);
    } catch (error) {
      this.context.notices.show('state', 'error', error instanceof Error ? error.message : String(error));
      return;
    }
    this.found.clear();
    this.panel.drawAll(this.foundList());
    this.drawSlices();
    this.redraw();
    void this.drawFog();
    this.requests.want(...before);
    for (const pathway of this.model.pathways) this.want(pathway);
  }

  private baseName(): string {
    return this.data.name.replace(/\.(nii\.gz|[^.]*)$/, '');
  }

  private makeStage(): void {
    this.stage = new Stage(this.stageBox, this.data.bounds, this.contextLost, fromAbove);
    this.stage.setBackground(this.context.theme().background);
    this.view = new TensorView(this.stage, this.volume);
    followPointer(this.stage, { grab: () => false, drag: () => {}, drop: () => {}, click: () => {}, hover: () => {} });
    this.drawSlices();
    this.redraw();
    void this.drawFog();
  }

  private remakeStage(): void {
    const { camera } = this.stage;
    this.stage.dispose();
    this.makeStage();
    this.stage.setCamera(camera);
  }

  private foundList(): (Found | null)[] {
    return this.model.pathways.map(({ name }) => this.found.get(name) ?? null);
  }

  private drawSlices(): void {
    for (const axis of axes) {
      const image = this.volume.slice(axis, this.model.crosshair[axis], this.paint());
      this.slices[axis]!.setImage(image);
      this.view.slices.set(axis, this.model.crosshair[axis], image);
    }
    this.stage.render();
    this.drawOverlays();
  }

  private paint(): (voxel: number, rgb: Uint8ClampedArray, at: number) => void {
    const { fa, directions } = this;
    if (this.model.background === 'fa') return (voxel, rgb, at) => rgb.fill(255 * Math.min(1, fa[voxel]!), at, at + 3);
    return (voxel, rgb, at) => {
      for (let k = 0; k < 3; ++k) rgb[at + k] = directions[3 * voxel + k]!;
    };
  }

  private drawOverlays(): void {
    const { crosshair, pathways, active } = this.model;
    const paths = pathways.flatMap(({ name, color }) => {
      const points = this.found.get(name)?.path;
      return points === undefined ? [] : [{ points, color }];
    });
    const balls = pathways.flatMap(({ color, from, to }, i) => {
      const ball = (region: Region | null, letter: string): SliceBall[] =>
        region === null ? [] : [{ ...region, color, letter, strong: i === active }];
      return [...ball(from, 'A'), ...ball(to, 'B')];
    });
    for (const slice of this.slices) slice.draw({ crosshair, balls, paths });
  }

  private redraw(): void {
    const found = this.foundList();
    this.view.draw(this.model, found);
    this.panel.drawPathways(found);
    this.panel.drawNumbers(found);
    this.drawOverlays();
    this.context.exportsChanged();
  }

  private picked(place: Vec3): void {
    const { tool } = this.panel;
    this.model.crosshair = place;
    const pathway = this.model.pathways[this.model.active];
    if (tool !== 'look' && pathway !== undefined) {
      pathway[tool] = { point: place, radius: pathway[tool]?.radius ?? 2.5 * this.volume.smallestSpacing };
      this.want(pathway);
      this.panel.drawPathways(this.foundList());
    }
    this.drawSlices();
  }

  private scroll(axis: Axis, voxels: number): void {
    const [low, high] = this.volume.bounds;
    const place = this.model.crosshair[axis] + voxels * this.volume.smallestSpacing;
    this.model.crosshair[axis] = Math.min(Math.max(place, low[axis]), high[axis]);
    this.drawSlices();
  }

  private pathwayChanged(index: number): void {
    const pathway = this.model.pathways[index];
    if (pathway !== undefined) this.want(pathway);
    this.drawOverlays();
  }

  private pathwayRemoved(name: string): void {
    this.found.delete(name);
    this.redraw();
    void this.drawFog();
    this.requests.want(name);
  }

  private displayChanged(): void {
    if (this.model.showGlyphs) this.glyphs.want(...this.found.keys());
    this.redraw();
  }

  /** For a pathway that was found while no glyphs were wanted. */
  private async addGlyphs(name: string): Promise<void> {
    const found = this.found.get(name);
    if (found === undefined || found.glyphs !== null) return;
    const old = () => this.ended.signal.aborted || this.found.get(name) !== found;
    try {
      found.glyphs = await this.askGlyphs(name);
      if (!old()) this.redraw();
    } catch (error) {
      if (old() || !(error instanceof ApiError) || error.superseded || error.status === 0) return;
      this.context.notices.show('error', 'error', error.message);
    }
  }

  private async askGlyphs(name: string): Promise<Shape> {
    return readShape(await this.context.api.post(`${this.data.id}/glyphs`, { name, most: mostGlyphs }), '');
  }

  /** FA as it is; of the cost, how near it is to the least: 1 at the best path, 0 from half as much again on. */
  private async drawFog(): Promise<void> {
    const turn = ++this.fogs;
    const late = () => this.ended.signal.aborted || turn !== this.fogs;
    const { fog } = this.model;
    const name = this.model.pathways[this.model.active]?.name ?? '';
    if (fog !== 'cost' || !this.found.has(name)) {
      this.view.setFog(fog === 'fa' ? this.fa : null);
      return;
    }
    try {
      const { api } = this.context;
      const pack = await api.get(`${this.data.id}/volume/cost?client=${api.client}&name=${encodeURIComponent(name)}`);
      const least = pack.number('low');
      const near = pack.floats('values').map((cost) => Math.max(0, 1 - 2 * (cost / least - 1)));
      if (!late()) this.view.setFog(near);
    } catch (error) {
      if (!late() && error instanceof ApiError) this.context.notices.show('error', 'error', error.message);
    }
  }

  private want(pathway: Pathway): void {
    if (pathway.from !== null && pathway.to !== null) this.requests.want(pathway.name);
  }

  /** Brings the server in line with the model: a pathway that has no two regions, or is gone, is not kept there. */
  private async renew(name: string): Promise<void> {
    const pathway = this.model.pathways.find((p) => p.name === name);
    if (pathway !== undefined && pathway.from !== null && pathway.to !== null) await this.connect(pathway);
    else if (this.kept.delete(name)) await this.forget(name);
  }

  private async forget(name: string): Promise<void> {
    try {
      await this.context.api.ask(`${this.data.id}/remove`, { name });
    } catch {
      // it was dropped already
    }
  }

  private async connect(pathway: Pathway): Promise<void> {
    const { api, notices } = this.context;
    const { name, from, to, alpha, epsilon } = pathway;
    const gone = () => this.ended.signal.aborted || !this.model.pathways.includes(pathway);
    try {
      const pack = await api.post(`${this.data.id}/connect`, {
        seq: api.nextSequence(),
        name,
        from,
        to,
        alpha,
        epsilon,
      });
      this.kept.add(name);
      if (gone()) return; // its name is due again, to be forgotten
      const found = readFound(pack);
      if (this.model.showGlyphs) found.glyphs = await this.askGlyphs(name);
      if (gone()) return;
      this.found.set(name, found);
      notices.hide('error');
      const time = `${found.milliseconds.toFixed(0)} ms on the server (solve ${found.solveMilliseconds.toFixed(0)} ms)`;
      this.status.textContent = `${name}: least cost ${shortNumber(found.leastCost)} · ${time}`;
      this.status.dataset['cost'] = String(found.leastCost);
    } catch (error) {
      if (gone() || (error instanceof ApiError && (error.superseded || error.status === 0))) return;
      this.found.delete(name);
      notices.show('error', 'error', error instanceof Error ? error.message : String(error));
    }
    if (this.model.fog === 'cost') void this.drawFog();
    this.redraw();
  }

  private followKeys(): void {
    const tools = { '1': 'look', '2': 'from', '3': 'to' } as const;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement) return;
      if (event.key in tools) this.panel.chooseTool(tools[event.key as keyof typeof tools]);
      else if (event.key === 's') void this.savePicture();
      else if (event.key === '0') this.stage.resetCamera();
      else if (event.key === '?') this.context.help();
      else if (event.key === 'Escape') this.panel.chooseTool('look');
    };
    window.addEventListener('keydown', onKey, { signal: this.ended.signal });
  }
}
