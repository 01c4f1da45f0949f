// The tensor mode: three slices, two regions, and the pathway between them.
import { ApiError } from '../api';
import { Refresh } from '../refresh';
import type { SliceBall } from '../slices/slice_view';
import { SlicedMode, volumeOf } from '../slices/sliced_mode';
import type { Paint, Volume } from '../slices/volume';
import type { MakeMode, ModeContext } from '../stage_mode';
import type { DataSet, Vec3 } from '../types';
import { h, shortNumber } from '../ui/dom';
import { unit } from '../vec';
import type { Camera } from '../view/camera';
import type { Shape } from '../view/layers';
import {
  type Found,
  type Pathway,
  type Region,
  type TensorModel,
  defaultTensorModel,
  readFound,
  readShape,
  readTensorState,
} from './tensor_model';
import { type TensorActions, TensorPanel } from './tensor_panel';
import { TensorView } from './tensor_view';

const maxGlyphs = 3000;
/** Files of a pathway that the server writes: a name for the menu's entry, its words, and what is asked for. */
const fileExports: readonly (readonly [string, string, { format: string; what?: string }])[] = [
  ['csv', 'profile as .csv', { format: 'csv' }],
  ['tck', 'path as .tck', { format: 'tck' }],
  ['vtp', 'path as .vtp', { format: 'vtp' }],
  ['pathway', 'voxels as .nii.gz', { format: 'nii.gz', what: 'pathway' }],
  ['cost', 'cost as .nii.gz', { format: 'nii.gz', what: 'cost' }],
];
const fromAbove: Vec3 = unit([0.3, -0.8, 0.9]);

export class TensorMode extends SlicedMode implements TensorActions {
  protected readonly model: TensorModel;
  private readonly found = new Map<string, Found>();
  /** Names of the pathways that the server keeps. */
  private readonly kept = new Set<string>();
  private readonly panel: TensorPanel;
  private readonly requests: Refresh<string>;
  private readonly glyphs: Refresh<string>;
  protected view!: TensorView;
  /** Counts what was to be shown as fog: an answer for an earlier one comes too late. */
  private fogs = 0;

  /** Reads the volumes, to be shown later. */
  static async load(data: DataSet, context: ModeContext): Promise<MakeMode> {
    const volume = volumeOf(data);
    const fa = (await context.api.get(`${data.id}/volume/fa`)).floats('values');
    const directions = (await context.api.get(`${data.id}/volume/direction`)).bytes('values');
    return (root) => new TensorMode(root, data, context, volume, fa, directions);
  }

  private constructor(
    root: HTMLElement,
    data: DataSet,
    context: ModeContext,
    volume: Volume,
    private readonly fa: Float32Array,
    private readonly directions: Uint8Array,
  ) {
    super(data, context, volume, { direction: fromAbove });
    this.model = defaultTensorModel(data);
    this.requests = new Refresh((name) => this.renew(name), this.ended.signal);
    this.glyphs = new Refresh((name) => this.addGlyphs(name), this.ended.signal);
    this.panel = new TensorPanel(data, this.model, volume.smallestSpacing, this);
    const box = (...children: Node[]) => h('div', { class: 'quarter' }, ...children);
    const [sagittal, coronal, axial] = this.slices.map((slice) => box(slice.canvas));
    const quarters = h('div', { class: 'quarters' }, axial!, coronal!, sagittal!, box(this.stageBox));
    this.open(root, this.panel.element, quarters);
    this.followKeys({
      '1': () => this.panel.chooseTool('look'),
      '2': () => this.panel.chooseTool('from'),
      '3': () => this.panel.chooseTool('to'),
      Escape: () => this.panel.chooseTool('look'),
    });
    this.status.textContent = 'Choose "Region A" and click a slice, then "Region B".';
  }

  /** The server drops what it kept for a page whose line went down. */
  refresh(): void {
    this.kept.clear();
    for (const pathway of this.model.pathways) this.want(pathway);
  }

  progress(stage: string, fraction: number): void {
    if (this.requests.busy) this.status.textContent = `${stage}: ${Math.round(100 * fraction)} %`;
  }

  /** Axial, coronal, sagittal and the 3-D view on one picture. */
  protected picture(): HTMLCanvasElement {
    const { canvas } = this.stage;
    const picture = h('canvas', { width: 2 * canvas.width, height: 2 * canvas.height });
    const context = picture.getContext('2d')!;
    const [w, hgt] = [canvas.width, canvas.height];
    context.drawImage(canvas, w, hgt, w, hgt);
    [this.slices[2]!, this.slices[1]!, this.slices[0]!].forEach((slice, i) => {
      context.drawImage(slice.canvas, (i % 2) * w, Math.floor(i / 2) * hgt, w, hgt);
    });
    return picture;
  }

  exports(): [string, string][] {
    const found = this.model.pathways.filter(({ name }) => this.found.has(name));
    return found.flatMap(({ name }) =>
      fileExports.map(([what, label]): [string, string] => [`${what}/${name}`, `${name}, ${label}`]),
    );
  }

  protected exportRequest(chosen: string): object {
    const slash = chosen.indexOf('/');
    const wanted = fileExports.find(([what]) => what === chosen.slice(0, slash))?.[2];
    return { name: chosen.slice(slash + 1), ...wanted };
  }

  protected readState(text: string): Camera | null {
    const before = this.model.pathways.map(({ name }) => name);
    const { model, camera } = readTensorState(text, this.data);
    Object.assign(this.model, model);
    this.requests.want(...before); // those that are gone are to be forgotten
    return camera;
  }

  protected stateRead(): void {
    this.found.clear();
    this.panel.drawAll(this.foundList());
    this.drawSlices();
    this.redraw();
    void this.drawFog();
    for (const pathway of this.model.pathways) this.want(pathway);
  }

  protected fillStage(): void {
    this.view = new TensorView(this.stage, this.volume);
    this.drawSlices();
    this.redraw();
    void this.drawFog();
  }

  private foundList(): (Found | null)[] {
    return this.model.pathways.map(({ name }) => this.found.get(name) ?? null);
  }

  protected paint(): Paint {
    const { fa, directions } = this;
    if (this.model.background === 'fa') return (voxel, rgb, at) => rgb.fill(255 * Math.min(1, fa[voxel]!), at, at + 3);
    return (voxel, rgb, at) => {
      for (let k = 0; k < 3; ++k) rgb[at + k] = directions[3 * voxel + k]!;
    };
  }

  protected overSlices() {
    const { pathways, active } = this.model;
    const paths = pathways.flatMap(({ name, color }) => {
      const points = this.found.get(name)?.path;
      return points === undefined ? [] : [{ points, color }];
    });
    const balls = pathways.flatMap(({ color, from, to }, i) => {
      const ball = (region: Region | null, letter: string): SliceBall[] =>
        region === null ? [] : [{ ...region, color, letter, strong: i === active }];
      return [...ball(from, 'A'), ...ball(to, 'B')];
    });
    return { balls, paths };
  }

  private redraw(): void {
    const found = this.foundList();
    this.view.draw(this.model, found);
    this.panel.drawPathways(found);
    this.panel.drawNumbers(found);
    this.drawOverlays();
    this.context.exportsChanged();
  }

  protected picked(place: Vec3): void {
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

  activeChanged(): void {
    this.redraw();
    void this.drawFog();
  }

  pathwayChanged(index: number): void {
    const pathway = this.model.pathways[index];
    if (pathway !== undefined) this.want(pathway);
    this.drawOverlays();
  }

  pathwayRemoved(name: string): void {
    this.found.delete(name);
    this.redraw();
    void this.drawFog();
    this.requests.want(name);
  }

  displayChanged(): void {
    if (this.model.showGlyphs) this.glyphs.want(...this.found.keys());
    this.redraw();
  }

  /** For a pathway that was found while no glyphs were wanted. */
  private async addGlyphs(name: string): Promise<void> {
    const found = this.found.get(name);
    if (found === undefined || found.glyphs !== null) return;
    const old = () => this.over || this.found.get(name) !== found;
    try {
      found.glyphs = await this.askGlyphs(name);
      if (!old()) this.redraw();
    } catch (error) {
      if (!old()) this.failed(error);
    }
  }

  private async askGlyphs(name: string): Promise<Shape> {
    return readShape(await this.context.api.post(this.address('glyphs'), { name, most: maxGlyphs }), '');
  }

  /** FA as it is; of the cost, how near it is to the least: 1 at the best path, 0 from half as much again on. */
  async drawFog(): Promise<void> {
    const turn = ++this.fogs;
    const late = () => this.over || turn !== this.fogs;
    const { fog } = this.model;
    const name = this.model.pathways[this.model.active]?.name ?? '';
    if (fog !== 'cost' || !this.found.has(name)) {
      this.view.setFog(fog === 'fa' ? this.fa : null);
      return;
    }
    try {
      const { api } = this.context;
      const query = `client=${api.client}&name=${encodeURIComponent(name)}`;
      const pack = await api.get(this.address(`volume/cost?${query}`));
      const least = pack.number('low');
      const near = pack.floats('values').map((cost) => Math.max(0, 1 - 2 * (cost / least - 1)));
      if (!late()) this.view.setFog(near);
    } catch (error) {
      if (!late()) this.failed(error);
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
      await this.context.api.send(this.address('remove'), { name });
    } catch {
      // it was dropped already
    }
  }

  private async connect(pathway: Pathway): Promise<void> {
    const { api, notices } = this.context;
    const { name, from, to, alpha, epsilon } = pathway;
    const gone = () => this.over || !this.model.pathways.includes(pathway);
    try {
      const pack = await api.post(this.address('connect'), { seq: api.nextSequence(), name, from, to, alpha, epsilon });
      this.kept.add(name);
      if (gone()) return; // its name is due again, to be forgotten
      const found = readFound(pack);
      if (this.model.showGlyphs) found.glyphs = await this.askGlyphs(name);
      if (gone()) return;
      this.found.set(name, found);
      notices.hide('error');
      notices.list('notes', 'warning', found.notes);
      const time = `${found.milliseconds.toFixed(0)} ms on the server (solve ${found.solveMilliseconds.toFixed(0)} ms)`;
      this.status.textContent = `${name}: cost ${shortNumber(found.cost)} · ${time}`;
      this.status.dataset['cost'] = String(found.cost);
    } catch (error) {
      if (gone() || (error instanceof ApiError && error.quiet)) return;
      this.found.delete(name);
      this.failed(error);
    }
    if (this.model.fog === 'cost') void this.drawFog();
    this.redraw();
  }
}
