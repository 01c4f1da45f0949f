// Things a pane shows: a surface coloured by values, lines, and balls.
import vtkActor from '@kitware/vtk.js/Rendering/Core/Actor';
import vtkDataArray from '@kitware/vtk.js/Common/Core/DataArray';
import vtkImageData from '@kitware/vtk.js/Common/DataModel/ImageData';
import vtkMapper from '@kitware/vtk.js/Rendering/Core/Mapper';
import vtkPlane from '@kitware/vtk.js/Common/DataModel/Plane';
import vtkPolyData from '@kitware/vtk.js/Common/DataModel/PolyData';
import vtkSphereSource from '@kitware/vtk.js/Filters/Sources/SphereSource';
import vtkTexture from '@kitware/vtk.js/Rendering/Core/Texture';
import type vtkRenderer from '@kitware/vtk.js/Rendering/Core/Renderer';
import type { vtkObject } from '@kitware/vtk.js/interfaces';
import type { Color } from '../color_map';
import type { Vec3 } from '../types';
import { scale } from '../vec';

/** How many colours a table has; a front is drawn as sharp as one of them. */
export const tableSize = 2048;

export class Layer {
  protected readonly mapper = vtkMapper.newInstance({ scalarVisibility: false });
  protected readonly actor = vtkActor.newInstance();

  constructor(private readonly renderer: vtkRenderer) {
    this.actor.setMapper(this.mapper);
    renderer.addActor(this.actor);
  }

  setVisible(visible: boolean): void {
    this.actor.setVisibility(visible);
  }

  /** What is on the normal's side of a plane is left out; null for nothing. */
  setClip(plane: { point: Vec3; normal: Vec3 } | null): void {
    this.mapper.removeAllClippingPlanes();
    if (plane === null) return;
    this.mapper.addClippingPlane(vtkPlane.newInstance({ origin: plane.point, normal: scale(plane.normal, -1) }));
  }

  /** 1: nothing shines through. */
  setOpacity(opacity: number): void {
    this.actor.getProperty().setOpacity(opacity);
  }

  setColor(color: Vec3): void {
    this.actor.getProperty().setColor(...color);
  }

  remove(): void {
    this.renderer.removeActor(this.actor);
  }
}

const arrayOf = (name: string, values: Float32Array | Uint8Array, numberOfComponents: number) =>
  vtkDataArray.newInstance({ name, values, numberOfComponents });

/** A layer with points of its own, and triangles or lines between them. */
class DataLayer extends Layer {
  protected readonly data = vtkPolyData.newInstance();

  constructor(renderer: vtkRenderer) {
    super(renderer);
    this.mapper.setInputData(this.data);
  }

  setMesh({ points, normals, triangles }: Omit<Shape, 'colors'>): void {
    const cells = new Uint32Array((triangles.length / 3) * 4);
    for (let t = 0, at = 0; t < triangles.length; t += 3) {
      cells[at++] = 3;
      for (let k = 0; k < 3; ++k) cells[at++] = triangles[t + k]!;
    }
    this.data.getPoints().setData(points, 3);
    this.data.getPolys().setData(cells);
    this.data.getPointData().setNormals(arrayOf('normals', normals, 3));
    this.data.modified();
  }
}

/** A surface whose colours come from a table, by a place in it (0 to 1) at each vertex. */
export class SurfaceLayer extends DataLayer {
  private readonly texture = vtkTexture.newInstance({ interpolate: false, edgeClamp: true, resizable: true });
  private readonly image = vtkImageData.newInstance();
  private readonly table = new Uint8Array(3 * tableSize);

  constructor(renderer: vtkRenderer) {
    super(renderer);
    this.image.setDimensions(tableSize, 1, 1);
    this.image.getPointData().setScalars(arrayOf('table', this.table, 3));
    this.texture.setInputData(this.image);
    this.actor.addTexture(this.texture);
    this.actor.getProperty().set({ ambient: 0.3, diffuse: 0.72, specular: 0.08, specularPower: 20 });
  }

  /** One place in the table for each drawn vertex. */
  setPlaces(places: Float32Array): void {
    const pairs = new Float32Array(2 * places.length);
    for (let i = 0; i < places.length; ++i) {
      pairs[2 * i] = places[i]!;
      pairs[2 * i + 1] = 0.5;
    }
    this.data.getPointData().setTCoords(arrayOf('places', pairs, 2));
    this.data.modified();
  }

  setTable(colors: readonly Color[]): void {
    colors.forEach((color, i) => this.table.set(color, 3 * i));
    this.image.modified();
    (this.texture as unknown as vtkObject).modified(); // its type leaves this out
  }
}

/** Polylines in one colour. */
export class LineLayer extends DataLayer {
  constructor(renderer: vtkRenderer, color: Vec3, width: number, opacity = 1) {
    super(renderer);
    this.mapper.setResolveCoincidentTopologyToPolygonOffset();
    this.mapper.setRelativeCoincidentTopologyLineOffsetParameters(-2, -4);
    this.actor.getProperty().set({ lighting: false, lineWidth: width, opacity });
    this.setColor(color);
  }

  /** Line i has the points offsets[i] to offsets[i + 1]; only those for which `shown` holds are drawn. */
  setLines(points: Float32Array, offsets: Uint32Array, shown: (line: number) => boolean = () => true): void {
    const cells: number[] = [];
    for (let line = 0; line + 1 < offsets.length; ++line) {
      const [from, to] = [offsets[line]!, offsets[line + 1]!];
      if (to - from < 2 || !shown(line)) continue;
      cells.push(to - from);
      for (let i = from; i < to; ++i) cells.push(i);
    }
    this.data.getPoints().setData(points, 3);
    this.data.getLines().setData(Uint32Array.from(cells));
    this.data.modified();
  }
}

/** A ball, for a source or a target; its size is set for each picture. */
export class BallLayer extends Layer {
  constructor(renderer: vtkRenderer, color: Vec3, opacity = 1) {
    super(renderer);
    const sphere = vtkSphereSource.newInstance({ radius: 1, thetaResolution: 24, phiResolution: 16 });
    this.mapper.setInputConnection(sphere.getOutputPort());
    this.actor.getProperty().set({ opacity, ambient: 0.45, diffuse: 0.6 });
    this.setColor(color);
  }

  place(point: Vec3, radius: number, color: Vec3): void {
    this.actor.setPosition(...point);
    this.actor.setScale(radius, radius, radius);
    this.setColor(color);
  }
}

/** Triangles with a normal at each vertex, and colours (three numbers from 0 to 255) or none. */
export interface Shape {
  points: Float32Array;
  normals: Float32Array;
  triangles: Uint32Array;
  colors: Uint8Array | null;
}

/** A surface in one colour, or with a colour at each vertex. */
export class ShapeLayer extends DataLayer {
  constructor(renderer: vtkRenderer, opacity = 1) {
    super(renderer);
    this.mapper.setColorModeToDirectScalars();
    this.actor.getProperty().set({ opacity, ambient: 0.3, diffuse: 0.75 });
  }

  setShape(shape: Shape): void {
    this.setMesh(shape);
    this.mapper.setScalarVisibility(shape.colors !== null);
    if (shape.colors !== null) this.data.getPointData().setScalars(arrayOf('colors', shape.colors, 3));
  }

  /** Null for no edges. */
  setEdges(color: Vec3 | null): void {
    const property = this.actor.getProperty();
    property.setEdgeVisibility(color !== null);
    if (color !== null) property.setEdgeColor(...color);
  }

  /** Leaves out what faces away. */
  hideBacks(): void {
    this.actor.getProperty().setBackfaceCulling(true);
  }
}

/** A rectangle with a picture on it, half transparent. */
export class PictureLayer extends DataLayer {
  private readonly texture = vtkTexture.newInstance({ interpolate: false, resizable: true });

  constructor(renderer: vtkRenderer) {
    super(renderer);
    this.data.getPolys().setData(Uint32Array.of(4, 0, 1, 2, 3));
    this.data.getPointData().setTCoords(arrayOf('places', Float32Array.of(0, 0, 1, 0, 1, 1, 0, 1), 2));
    this.actor.addTexture(this.texture);
    this.actor.getProperty().set({ lighting: false, opacity: 0.5 });
  }

  /** The corners, from the lower left one round to the upper left one. */
  setPicture(corners: readonly Vec3[], image: ImageData): void {
    this.data.getPoints().setData(Float32Array.from(corners.flat()), 3);
    this.data.modified();
    this.texture.setJsImageData(image);
    (this.texture as unknown as vtkObject).modified();
  }
}
