// A mode with three linked slices of an image beside its 3-D view.
import { type ModeContext, StageMode } from '../stage_mode';
import type { DataSet, Vec3 } from '../types';
import type { StageOptions } from '../view/stage';
import { type SliceContent, type SlicePlanes, SliceView } from './slice_view';
import { type Axis, type Paint, Volume, axes } from './volume';

/** Where the voxels of a data set are. Throws an Error when it is no image. */
export function volumeOf({ shape, spacing, affine, bounds }: DataSet): Volume {
  if (shape === undefined || spacing === undefined || affine === undefined) throw new Error('the image has no shape');
  return new Volume(shape, spacing, affine, bounds);
}

export abstract class SlicedMode extends StageMode {
  /** Sagittal, coronal, axial. */
  protected readonly slices: readonly SliceView[];

  constructor(
    data: DataSet,
    context: ModeContext,
    protected readonly volume: Volume,
    options: StageOptions,
  ) {
    super(data, context, options);
    const handlers = {
      point: (place: Vec3) => this.picked(place),
      scroll: (axis: Axis, voxels: number) => this.scroll(axis, voxels),
    };
    this.slices = axes.map((axis) => new SliceView(axis, volume, handlers));
    const resized = new ResizeObserver(() => this.drawOverlays());
    resized.observe(this.slices[0]!.canvas);
    this.ended.signal.addEventListener('abort', () => resized.disconnect());
  }

  /** Its crosshair is where the slices cross; the numbers are changed in place. */
  protected abstract readonly model: { crosshair: Vec3 };
  protected abstract view: { slices: SlicePlanes };
  /** How a voxel looks. */
  protected abstract paint(): Paint;
  /** What is drawn over the slices. */
  protected abstract overSlices(): Omit<SliceContent, 'crosshair'>;
  /** A place was pressed on a slice. */
  protected abstract picked(place: Vec3): void;

  drawSlices(): void {
    const { crosshair } = this.model;
    for (const axis of axes) {
      const image = this.volume.slice(axis, crosshair[axis], this.paint());
      this.slices[axis]!.setImage(image);
      this.view.slices.set(axis, crosshair[axis], image);
    }
    this.stage.render();
    this.drawOverlays();
  }

  protected drawOverlays(): void {
    const content = { crosshair: this.model.crosshair, ...this.overSlices() };
    for (const slice of this.slices) slice.draw(content);
  }

  private scroll(axis: Axis, voxels: number): void {
    const [low, high] = this.volume.bounds;
    const { crosshair } = this.model;
    const place = crosshair[axis] + voxels * this.volume.smallestSpacing;
    crosshair[axis] = Math.min(Math.max(place, low[axis]), high[axis]);
    this.drawSlices();
  }
}
