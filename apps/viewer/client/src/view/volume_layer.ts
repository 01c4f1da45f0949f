// A volume of numbers as coloured fog.
import '@kitware/vtk.js/Rendering/OpenGL/Volume';
import '@kitware/vtk.js/Rendering/OpenGL/VolumeMapper';
import vtkColorTransferFunction from '@kitware/vtk.js/Rendering/Core/ColorTransferFunction';
import vtkDataArray from '@kitware/vtk.js/Common/Core/DataArray';
import vtkImageData from '@kitware/vtk.js/Common/DataModel/ImageData';
import vtkPiecewiseFunction from '@kitware/vtk.js/Common/DataModel/PiecewiseFunction';
import vtkVolume from '@kitware/vtk.js/Rendering/Core/Volume';
import vtkVolumeMapper from '@kitware/vtk.js/Rendering/Core/VolumeMapper';
import type vtkRenderer from '@kitware/vtk.js/Rendering/Core/Renderer';
import { colorMap } from '../color_map';
import type { Volume } from '../slices/volume';

/** Numbers from 0 (clear) to 1 (thick, and the colour of high values). */
export class VolumeLayer {
  private readonly volume = vtkVolume.newInstance();
  private readonly image = vtkImageData.newInstance();

  constructor(renderer: vtkRenderer, { shape, spacing, affine }: Volume) {
    this.image.setDimensions(...shape);
    this.image.setSpacing(spacing);
    this.image.setOrigin([affine[3]!, affine[7]!, affine[11]!]);
    const along = (row: number, axis: number) => affine[4 * row + axis]! / spacing[axis]!;
    const columns = [0, 1, 2].flatMap((axis) => [0, 1, 2].map((row) => along(row, axis)));
    this.image.setDirection(...(columns as Parameters<vtkImageData['setDirection']>));
    const mapper = vtkVolumeMapper.newInstance();
    mapper.setSampleDistance(0.7 * Math.min(...spacing));
    mapper.setInputData(this.image);
    this.volume.setMapper(mapper);
    const property = this.volume.getProperty();
    const colors = vtkColorTransferFunction.newInstance();
    colorMap(9).forEach(([r, g, b], i) => colors.addRGBPoint(i / 8, r / 255, g / 255, b / 255));
    const opacity = vtkPiecewiseFunction.newInstance();
    opacity.addPoint(0, 0);
    opacity.addPoint(0.15, 0);
    opacity.addPoint(0.5, 0.12);
    opacity.addPoint(1, 0.5);
    property.setRGBTransferFunction(0, colors);
    property.setScalarOpacity(0, opacity);
    property.setScalarOpacityUnitDistance(0, 2 * Math.min(...spacing));
    property.setInterpolationTypeToLinear();
    renderer.addVolume(this.volume);
    this.volume.setVisibility(false);
  }

  /** In the order of the file, the first index fastest; null for nothing. */
  setValues(values: Float32Array | null): void {
    this.volume.setVisibility(values !== null);
    if (values === null) return;
    this.image.getPointData().setScalars(vtkDataArray.newInstance({ name: 'values', values, numberOfComponents: 1 }));
    this.image.modified();
  }
}
