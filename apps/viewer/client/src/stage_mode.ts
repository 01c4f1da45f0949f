// What all modes have in common: a 3-D view that comes back when its context was lost, states, exports, keys and errors.
import { ApiError, wordsOf } from './api';
import type { Mode, ModeContext } from './mode';
import type { DataSet } from './types';
import { download, h } from './ui/dom';
import { type Camera, orbit, zoom } from './view/camera';
import { afterLoss } from './view/context_loss';
import { type PointerHandlers, followPointer } from './view/pointer';
import { type StageOptions, Stage } from './view/stage';

const zoomStep = 1.15;
/** Radians. */
const turnStep = 0.1;

export abstract class StageMode implements Mode {
  protected readonly stageBox = h('div', {
    class: 'stage',
    tabindex: 0,
    role: 'application',
    'aria-label': '3-D view',
  });
  protected readonly status = h('output', { class: 'status' });
  protected readonly ended = new AbortController();
  protected stage!: Stage;
  private readonly contextLost: () => void;

  constructor(
    protected readonly data: DataSet,
    protected readonly context: ModeContext,
    private readonly stageOptions: StageOptions,
  ) {
    this.contextLost = afterLoss(context.notices, this.ended.signal, () => {
      const { camera } = this.stage;
      this.stage.dispose();
      this.makeStage();
      this.stage.setCamera(camera);
    });
  }

  abstract refresh(): void;
  abstract progress(stage: string, fraction: number): void;
  abstract savePicture(): Promise<void>;
  abstract exports(): [name: string, label: string][];
  abstract stateText(): string;

  /** Puts everything on a new stage. */
  protected abstract fillStage(): void;
  /** What presses and moves over the stage do, besides turning it. */
  protected abstract pointer(): Partial<PointerHandlers>;
  /** What the server is asked to write for an entry of the menu. */
  protected abstract exportRequest(name: string): object;
  /** Takes over what a state file says; throws an Error that says what is wrong with it. */
  protected abstract readState(text: string): Camera | null;
  /** Shows what readState has changed. */
  protected abstract stateRead(): void;

  dispose(): void {
    this.ended.abort();
    this.stage.dispose();
  }

  setTheme(): void {
    this.stage.setBackground(this.context.theme().background);
  }

  async saveData(name: string): Promise<void> {
    try {
      const file = await this.context.api.file(this.address('export'), this.exportRequest(name));
      download(file.blob, file.name);
    } catch (error) {
      this.failed(error);
    }
  }

  saveState(): void {
    download(new Blob([this.stateText()], { type: 'application/json' }), `${this.baseName()}.view.json`);
  }

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

  protected makeStage(): void {
    this.stage = new Stage(this.stageBox, this.data.bounds, this.contextLost, this.stageOptions);
    this.stage.setBackground(this.context.theme().background);
    const nothing = { grab: () => false, drag: () => {}, drop: () => {}, click: () => {}, hover: () => {} };
    followPointer(this.stage, { ...nothing, ...this.pointer() });
    this.fillStage();
  }

  protected address(question: string): string {
    return `${this.data.id}/${question}`;
  }

  /** The name of the file without its extension. */
  protected baseName(): string {
    return this.data.name.replace(/\.(nii\.gz|[^.]*)$/, '');
  }

  protected get over(): boolean {
    return this.ended.signal.aborted;
  }

  protected showWarnings(): void {
    this.context.notices.list('warnings', 'info', this.data.warnings);
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

  /** Keys that mean the same in all modes. */
  protected viewKeys(): Record<string, () => void> {
    const closer = (factor: number) => () => this.stage.setCamera(zoom(this.stage.camera, factor));
    return {
      '+': closer(zoomStep),
      '=': closer(zoomStep),
      '-': closer(1 / zoomStep),
      '0': () => this.stage.resetCamera(),
      s: () => void this.savePicture(),
      '?': () => this.context.help(),
    };
  }
}
