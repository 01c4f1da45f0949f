// The three slices as half transparent planes in a 3-D view.
import type vtkRenderer from '@kitware/vtk.js/Rendering/Core/Renderer';
import type { Vec3 } from '../types';
import { PictureLayer } from '../view/layers';
import { type Axis, type Volume, axes, sliceAxes } from './volume';

export class SlicePlanes {
  private readonly layers: PictureLayer[];

  constructor(
    renderer: vtkRenderer,
    private readonly volume: Volume,
  ) {
    this.layers = axes.map(() => new PictureLayer(renderer));
  }

  set(axis: Axis, place: number, image: ImageData): void {
    const [low, high] = this.volume.bounds;
    const [u, v] = sliceAxes[axis];
    const corner = (right: boolean, up: boolean): Vec3 => {
      const p: Vec3 = [place, place, place];
      p[u] = right ? high[u] : low[u];
      p[v] = up ? high[v] : low[v];
      return p;
    };
    const corners = [corner(false, false), corner(true, false), corner(true, true), corner(false, true)];
    this.layers[axis]!.setPicture(corners, image);
  }

  setVisible(visible: boolean): void {
    for (const layer of this.layers) layer.setVisible(visible);
  }
}
