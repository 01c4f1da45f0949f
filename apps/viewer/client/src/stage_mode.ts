// What all modes have in common: a 3-D view that comes back when its context was lost, states, exports, keys and errors.
import { type Api, ApiError, wordsOf } from './api';
import type { Color } from './color_map';
import type { ServerEvent } from './events';
import { writeState } from './state_file';
import type { DataSet, Vec3 } from './types';
import { download, h } from './ui/dom';
import type { Notices } from './ui/notices';
import { pngOf } from './ui/overlay';
import { type Camera, orbit, zoom } from './view/camera';
import type { Graphics } from './view/graphics';
import { type PointerHandlers, followPointer } from './view/pointer';
import { Stage, type StageOptions } from './view/stage';

export interface Theme {
  background: Vec3;
  plain: Color;
  ahead: Color;
}

/** What a mode is given. */
export interface ModeContext {
  api: Api;
  notices: Notices;
  help: () => void;
  /** What can be exported has changed. */
  exportsChanged: () => void;
  theme: () => Theme;
}

/** Shows in an element what a mode has loaded. */
export type MakeMode = (root: HTMLElement, graphics: Graphics) => StageMode;

const zoomStep = 1.15;
/** Radians. */
const turnStep = 0.1;
/** More lost contexts than this mean that drawing again does not help. */
const maxLosses = 5;
/** Milliseconds; a driver that has just failed is left alone for so long. */
const pause = 300;

const arrows: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** True where a control has a use of its own for the key. */
function takenBy(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLSelectElement) return key !== 'Escape';
  if (target instanceof HTMLInputElement) {
    if (target.type === 'range') return key in arrows;
    if (target.type === 'checkbox') return key === ' ';
    return key !== 'Escape';
  }
  const pressed =
    target instanceof HTMLButtonElement || (target instanceof HTMLElement && target.tagName === 'SUMMARY');
  return pressed && (key === ' ' || key === 'Enter');
}

export abstract class StageMode {
  protected readonly stageBox = h('div', {
    class: 'stage',
    tabindex: 0,
    role: 'application',
    'aria-label': '3-D view',
  });
  protected readonly status = h('output', { class: 'status' });
  protected readonly ended = new AbortController();
  protected stage!: Stage;
  private losses = 0;

  constructor(
    protected readonly data: DataSet,
    protected readonly context: ModeContext,
    private readonly stageOptions: StageOptions,
  ) {}

  /** Asks for everything again, after the connection was lost. */
  abstract refresh(): void;
  abstract progress(stage: string, fraction: number): void;
  /** Names of exports and what the menu calls them. */
  abstract exports(): [name: string, label: string][];

  /** What the user has chosen, as plain data. */
  protected abstract readonly model: object;
  /** Puts everything on a new stage. */
  protected abstract fillStage(): void;
  /** What is saved as a picture; called right after drawing, while the canvas still holds it. */
  protected abstract picture(): HTMLCanvasElement;
  /** What the server is asked to write for an entry of the menu. */
  protected abstract exportRequest(name: string): object;
  /** Takes over what a state file says; throws an Error that says what is wrong with it. */
  protected abstract readState(text: string): Camera | null;
  /** Shows what readState has changed. */
  protected abstract stateRead(): void;

  /** What presses and moves over the stage do, besides turning it. */
  protected pointer(): Partial<PointerHandlers> {
    return {};
  }

  /** A surface is being made: where its particles are can be asked for. */
  particles(_event: ServerEvent): void {}

  dispose(): void {
    this.ended.abort();
    this.stage.dispose();
  }

  setTheme(): void {
    this.stage.setBackground(this.context.theme().background);
  }

  async savePicture(): Promise<void> {
    this.stage.renderNow();
    download(await pngOf(this.picture()), `${this.baseName()}.png`);
  }

  async saveData(name: string): Promise<void> {
    try {
      const file = await this.context.api.file(this.address('export'), this.exportRequest(name));
      download(file.blob, file.name);
    } catch (error) {
      this.failed(error);
    }
  }

  stateText(): string {
    return writeState(this.data, this.stage.camera, this.model);
  }

  saveState(): void {
    download(new Blob([this.stateText()], { type: 'application/json' }), `${this.baseName()}.view.json`);
  }

  /** With the camera of the state, or with all of the data in view. */
  loadState(text: string, view: 'saved' | 'fitted' = 'saved'): void {
    try {
      const camera = this.readState(text);
      if (camera !== null && view === 'saved') this.stage.setCamera(camera);
    } catch (error) {
      this.context.notices.show('state', 'error', wordsOf(error));
      return;
    }
    this.stateRead();
  }

  /** Fills the page: what is seen, the status line below it and the panel beside it. */
  protected open(root: HTMLElement, panel: HTMLElement, ...seen: Node[]): void {
    root.replaceChildren(h('main', {}, ...seen, this.status), panel);
    this.makeStage();
    this.context.notices.list('warnings', 'info', this.data.warnings);
  }

  private makeStage(): void {
    this.stage = new Stage(this.stageBox, this.data.bounds, () => this.contextLost(), this.stageOptions);
    this.stage.setBackground(this.context.theme().background);
    const nothing = { grab: () => false, drag: () => {}, drop: () => {}, click: () => {}, hover: () => {} };
    followPointer(this.stage, { ...nothing, ...this.pointer() });
    this.fillStage();
  }

  /** When the graphics driver takes its memory back nothing but the drawing itself is lost. */
  private contextLost(): void {
    this.context.notices.show('webgl', 'warning', 'The graphics context was lost; drawing again …');
    window.setTimeout(() => this.drawAgain(), pause);
  }

  private drawAgain(): void {
    if (this.over) return;
    const { notices } = this.context;
    try {
      if (++this.losses > maxLosses) throw new Error('it was lost several times');
      const { camera } = this.stage;
      this.stage.dispose();
      this.makeStage();
      this.stage.setCamera(camera);
      notices.hide('webgl');
    } catch {
      const reload = { label: 'Reload', run: () => window.location.reload() };
      notices.show('webgl', 'error', 'The graphics context was lost and could not be made again.', reload);
    }
  }

  protected address(question: string): string {
    return `${this.data.id}/${question}`;
  }

  /** The name of the file without its extension. */
  private baseName(): string {
    return this.data.name.replace(/\.(nii\.gz|[^.]*)$/, '');
  }

  protected get over(): boolean {
    return this.ended.signal.aborted;
  }

  /** Shows what went wrong, while the mode is shown. */
  protected failed(error: unknown): void {
    if (this.over || (error instanceof ApiError && error.quiet)) return;
    this.context.notices.show('error', 'error', wordsOf(error));
  }

  /** To the right and up, in steps. */
  protected turn(x: number, y: number): void {
    this.stage.setCamera(orbit(this.stage.camera, turnStep * x, -turnStep * y));
  }

  /**
   * Does what `own` and keys that mean the same in all modes stand for, unless a control, an open dialog or the browser
   * has a use of its own for the key. `onArrow` is asked first about arrows: what to do, or undefined for nothing.
   */
  protected followKeys(
    own: Record<string, () => void>,
    onArrow?: (x: number, y: number, event: KeyboardEvent) => (() => void) | undefined,
  ): void {
    const closer = (factor: number) => () => this.stage.setCamera(zoom(this.stage.camera, factor));
    const keys: Record<string, () => void> = {
      '+': closer(zoomStep),
      '=': closer(zoomStep),
      '-': closer(1 / zoomStep),
      '0': () => this.stage.resetCamera(),
      s: () => void this.savePicture(),
      '?': () => this.context.help(),
      ...own,
    };
    const onKey = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.ctrlKey || event.metaKey || event.altKey || takenBy(target, key)) return;
      if (document.querySelector('dialog[open]') !== null) return; // the dialog has its own Escape
      const arrow = arrows[key];
      const action = arrow === undefined ? keys[key] : onArrow?.(...arrow, event);
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener('keydown', onKey, { signal: this.ended.signal });
  }
}
