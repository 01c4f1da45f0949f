// The 3-D view of the tensor mode: slices, pathways, paths and glyphs.
import { fraction } from '../color_map';
import { SlicePlanes } from '../slices/slice_view';
import type { Volume } from '../slices/volume';
import type { Vec3 } from '../types';
import { type Shape, ShapeLayer } from '../view/layers';
import type { Stage } from '../view/stage';
import { VolumeLayer } from '../view/volume_layer';
import type { Found, TensorModel } from './tensor_model';

class PathwayLayers {
  readonly tube: ShapeLayer;
  readonly glyphs: ShapeLayer;
  readonly surface: ShapeLayer;
  private drawn: { tube?: Shape; glyphs?: Shape; surface?: Shape } = {};

  constructor(stage: Stage) {
    const { renderer } = stage.panes[0]!;
    this.tube = new ShapeLayer(renderer);
    this.glyphs = new ShapeLayer(renderer);
    this.surface = new ShapeLayer(renderer, 0.35);
  }

  show(part: 'tube' | 'glyphs' | 'surface', shape: Shape | null, color: Vec3): void {
    this[part].setVisible(shape !== null);
    if (shape === null) return;
    if (this.drawn[part] !== shape) this[part].setShape(shape);
    this.drawn[part] = shape;
    this[part].setColor(color);
  }

  remove(): void {
    for (const layer of [this.tube, this.glyphs, this.surface]) layer.remove();
  }
}

export class TensorView {
  readonly slices: SlicePlanes;
  private pathways: PathwayLayers[] = [];
  private readonly fog: VolumeLayer;

  constructor(
    private readonly stage: Stage,
    volume: Volume,
  ) {
    this.fog = new VolumeLayer(stage.panes[0]!.renderer, volume);
    this.slices = new SlicePlanes(stage.panes[0]!.renderer, volume);
  }

  /** From 0 (clear) to 1; null for none. */
  setFog(values: Float32Array | null): void {
    this.fog.setValues(values);
    this.stage.render();
  }

  draw(model: TensorModel, found: readonly (Found | null)[]): void {
    this.slices.setVisible(model.showSlices);
    while (this.pathways.length > model.pathways.length) this.pathways.pop()!.remove();
    while (this.pathways.length < model.pathways.length) this.pathways.push(new PathwayLayers(this.stage));
    model.pathways.forEach(({ color }, i) => {
      const one = found[i] ?? null;
      const shade = fraction(color);
      const layers = this.pathways[i]!;
      layers.show('tube', model.showTube ? (one?.tube ?? null) : null, shade);
      layers.show('glyphs', model.showGlyphs ? (one?.glyphs ?? null) : null, [1, 1, 1]);
      layers.show('surface', model.showSurface ? (one?.surface ?? null) : null, shade);
    });
    this.stage.render();
  }
}
