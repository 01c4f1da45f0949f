// Asks the server for what the mesh mode shows, and keeps the answers.
import { type Api, ApiError } from '../api';
import { Refresh } from '../refresh';
import type { DataSet, Vec3 } from '../types';
import { add, dot, scale } from '../vec';
import { readArrival, readClipped, readLevelSurfaces, readPath } from './answers';
import type { Shown } from './mesh_view';
import { type Model, type SlotName, type Source, slotsOf, speedRequest, surfaceTimes } from './model';

export type Part = SlotName | 'clip' | 'surfaces' | 'paths' | 'fibers' | 'array';

const maxFibers = 4000;

/** Some of the sources are not on the mesh. */
export class OffMesh extends Error {
  constructor(
    message: string,
    readonly sources: readonly Source[],
  ) {
    super(message);
  }
}

export class Requests {
  private readonly refresh: Refresh<Part>;
  /** From asking to having the last arrival, in milliseconds. */
  roundTrip = 0;
  private started = 0;

  constructor(
    private readonly api: Api,
    private readonly data: DataSet,
    private readonly shown: Shown,
    private readonly onAnswer: (part: Part) => void,
    private readonly onError: (error: unknown, part: Part) => void,
    private readonly ended: AbortSignal,
  ) {
    this.refresh = new Refresh((part) => this.renew(part), ended);
  }

  /** How long the request in flight has been under way, in milliseconds; 0 when there is none. */
  get waiting(): number {
    return this.refresh.busy ? performance.now() - this.started : 0;
  }

  want(...parts: Part[]): void {
    this.refresh.want(...parts);
  }

  wantArrivals(): void {
    this.want(...slotsOf(this.shown.model.compare));
  }

  private async renew(part: Part): Promise<void> {
    this.started = performance.now();
    try {
      await (part === 'a' || part === 'b' ? this.arrival(part) : this[part]());
      if (!this.ended.aborted) this.onAnswer(part);
    } catch (error) {
      this.onError(error, part);
    }
  }

  private address(what: string): string {
    return `${this.data.id}/${what}`;
  }

  private async arrival(slot: SlotName): Promise<void> {
    const { model, arrival, paths, surfaces } = this.shown;
    if (model.sources.length === 0) {
      delete arrival[slot];
      delete surfaces[slot];
      if (model.clip.on) this.want('clip');
      delete paths[slot];
      return;
    }
    const asked = model.sources.map((source) => ({ source, point: source.point }));
    const solve = this.api.post(this.address('solve'), {
      seq: this.api.nextSequence(),
      slot,
      sources: model.sources,
      ...speedRequest(model.settings[slot], this.data),
      isochrones: model.spacing > 0 ? { spacing: model.spacing } : { about: 14 },
    });
    const pack = await solve.catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.offMesh.length === 0) throw error;
      const still = asked.filter(({ source, point }, i) => error.offMesh.includes(i) && source.point === point);
      throw new OffMesh(
        error.message,
        still.map(({ source }) => source),
      );
    });
    this.roundTrip = performance.now() - this.started;
    arrival[slot] = readArrival(pack);
    if (this.shown.clipPlane !== null) this.want('clip');
    if (model.inside !== '') this.want('surfaces');
    if (model.targets.length > 0) this.want('paths');
  }

  private async clip(): Promise<void> {
    const { model, arrival, clipped } = this.shown;
    if (!model.clip.on) {
      this.shown.clipPlane = null;
      return;
    }
    const plane = clipPlane(model, this.data);
    const answers: Shown['clipped'] = {};
    for (const slot of slotsOf(model.compare)) {
      const levels = [...new Set(arrival[slot]?.isochrones.levels)];
      const asked = { slot, ...plane, ...(levels.length > 0 ? { levels } : {}) };
      answers[slot] = readClipped(await this.api.post(this.address('clip'), asked));
    }
    delete clipped.a;
    delete clipped.b;
    Object.assign(clipped, answers);
    this.shown.clipPlane = plane;
  }

  private async surfaces(): Promise<void> {
    const { model, arrival, surfaces } = this.shown;
    for (const slot of slotsOf(model.compare)) {
      const found = arrival[slot];
      const levels = found && surfaceTimes(model, { lines: found.isochrones.levels, maxTime: found.maxTime });
      if (levels === undefined || levels.length === 0) delete surfaces[slot];
      else surfaces[slot] = readLevelSurfaces(await this.api.post(this.address('isosurface'), { slot, levels }));
    }
  }

  private async paths(): Promise<void> {
    const { model, arrival, paths } = this.shown;
    const targets = [...model.targets];
    for (const slot of slotsOf(model.compare)) {
      if (arrival[slot] === undefined) continue;
      const found = [];
      for (const target of targets) found.push(await this.path(slot, target));
      paths[slot] = found;
    }
  }

  private async path(slot: SlotName, target: Vec3) {
    try {
      return readPath(await this.api.post(this.address('path'), { slot, to: { point: target } }), target);
    } catch (error) {
      // A point that the front does not reach has no path; the others still do.
      if (!(error instanceof ApiError) || error.status !== 422) throw error;
      return { target, points: new Float32Array(), length: 0, time: Infinity };
    }
  }

  private async fibers(): Promise<void> {
    const name = this.shown.model.showFibers;
    if (name === '') {
      this.shown.fibers = null;
      return;
    }
    const query = `fibers?array=${encodeURIComponent(name)}&count=${maxFibers}`;
    this.shown.fibers = (await this.api.get(this.address(query))).floats('segments');
  }

  private async array(): Promise<void> {
    const { coloring } = this.shown.model;
    const info = this.data.arrays.find((a) => `${a.on}/${a.name}` === coloring);
    if (info === undefined) {
      this.shown.array = null;
      return;
    }
    const pack = await this.api.get(this.address(`array?name=${encodeURIComponent(info.name)}&on=${info.on}`));
    const range = { low: info.low ?? 0, high: info.high ?? 0 };
    this.shown.array = { values: pack.floats('values'), on: info.on, name: info.name, range };
  }
}

/** The plane the model asks for: its place runs from one side of the data's box to the other. */
export function clipPlane({ clip }: Model, { bounds: [low, high] }: DataSet): { point: Vec3; normal: Vec3 } {
  const middle = scale(add(low, high), 0.5);
  const half = scale(add(high, scale(low, -1)), 0.5);
  const reach = dot(half, [Math.abs(clip.normal[0]), Math.abs(clip.normal[1]), Math.abs(clip.normal[2])]);
  return { point: add(middle, scale(clip.normal, (2 * clip.offset - 1) * reach)), normal: clip.normal };
}
