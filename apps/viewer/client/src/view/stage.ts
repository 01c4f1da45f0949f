// One WebGL canvas with panes side by side that look through the same camera.
import '@kitware/vtk.js/Rendering/OpenGL/Profiles/Geometry';
import vtkOpenGLRenderWindow from '@kitware/vtk.js/Rendering/OpenGL/RenderWindow';
import vtkRenderWindowInteractor from '@kitware/vtk.js/Rendering/Core/RenderWindowInteractor';
import vtkRenderWindow from '@kitware/vtk.js/Rendering/Core/RenderWindow';
import vtkRenderer from '@kitware/vtk.js/Rendering/Core/Renderer';
import type { Ray } from '../mesh/pick';
import type { Vec3 } from '../types';
import { add, norm, scale, sub } from '../vec';
import { type Camera, type Lens, cameraFor, lensFor, rayThrough, seenAt, usualDirection, viewAngle } from './camera';
import { NoWebGl } from './graphics';

export class Pane {
  readonly renderer = vtkRenderer.newInstance();
  /** What is in here is drawn over everything else. */
  readonly front = vtkRenderer.newInstance({ layer: 1, preserveColorBuffer: true });

  get renderers() {
    return [this.renderer, this.front];
  }
}

/** Options of a stage. */
export interface StageOptions {
  /** From where the data is seen first. */
  direction?: Vec3;
  /** Smooth edges; three times the work where the processor draws. */
  multisample?: boolean;
}

/** A canvas with its context: vtk.js, which asks for it again, takes no attributes for it. */
function makeCanvas(antialias: boolean): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.style.width = '100%';
  if (canvas.getContext('webgl2', { antialias, powerPreference: 'high-performance' }) === null) throw new NoWebGl();
  return canvas;
}

export class Stage {
  panes: Pane[] = [];
  camera: Camera;
  /** Called before each picture, for things whose size follows the camera. */
  beforeRender: () => void = () => {};

  private readonly window = vtkRenderWindow.newInstance();
  private readonly view: vtkOpenGLRenderWindow;
  private readonly direction: Vec3;
  private readonly observer: ResizeObserver;
  /** Aborted when the stage goes. */
  readonly ended = new AbortController();
  private wanted = false;
  private background: Vec3 = [1, 1, 1];

  constructor(
    readonly container: HTMLElement,
    private readonly bounds: [Vec3, Vec3],
    onLost: () => void,
    { direction = usualDirection, multisample = true }: StageOptions = {},
  ) {
    this.direction = direction;
    this.view = vtkOpenGLRenderWindow.newInstance({ canvas: makeCanvas(multisample) });
    this.view.setContainer(container);
    this.window.addView(this.view);
    this.window.setNumberOfLayers(2);
    // Volumes ask one whether something moves. It is bound to no events: view/pointer.ts follows the pointer.
    vtkRenderWindowInteractor.newInstance().setView(this.view);
    this.view.initialize();
    this.canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault();
      if (!this.gone) onLost();
    });
    this.camera = cameraFor(bounds, direction);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(container);
    this.setPanes(1);
    this.resize();
  }

  get canvas(): HTMLCanvasElement {
    return this.view.getCanvas()!;
  }

  private get gone(): boolean {
    return this.ended.signal.aborted;
  }

  dispose(): void {
    this.ended.abort();
    this.observer.disconnect();
    this.view.setContainer(null);
    this.view.delete();
  }

  setBackground(color: Vec3): void {
    this.background = color;
    for (const pane of this.panes) pane.renderer.setBackground(...color);
    this.render();
  }

  setPanes(count: number): void {
    while (this.panes.length > count) for (const one of this.panes.pop()!.renderers) this.window.removeRenderer(one);
    while (this.panes.length < count) {
      const pane = new Pane();
      pane.renderer.setBackground(...this.background);
      this.panes.push(pane);
      for (const one of pane.renderers) this.window.addRenderer(one);
    }
    this.panes.forEach(({ renderers }, i) => {
      for (const one of renderers) one.setViewport(i / count, 0, (i + 1) / count, 1);
    });
    this.render();
  }

  resetCamera(): void {
    this.camera = cameraFor(this.bounds, this.direction);
    this.render();
  }

  setCamera(camera: Camera): void {
    this.camera = camera;
    this.render();
  }

  /** Draws before the next frame of the screen. */
  render(): void {
    if (this.wanted || this.gone) return;
    this.wanted = true;
    requestAnimationFrame(() => {
      this.wanted = false;
      if (!this.gone) this.renderNow();
    });
  }

  renderNow(): void {
    this.beforeRender();
    const { position, focus, up } = this.camera;
    const middle = scale(add(this.bounds[0], this.bounds[1]), 0.5);
    const radius = norm(sub(this.bounds[1], this.bounds[0])) * 0.6;
    const distance = norm(sub(middle, position));
    const angle = viewAngle(this.lens);
    for (const renderer of this.panes.flatMap((pane) => pane.renderers)) {
      const camera = renderer.getActiveCamera();
      camera.setPosition(...position);
      camera.setFocalPoint(...focus);
      camera.setViewUp(...up);
      camera.setViewAngle(angle);
      camera.setClippingRange(Math.max(distance - radius, radius * 1e-3), distance + radius);
    }
    this.view.traverseAllPasses();
  }

  get lens(): Lens {
    const { width, height } = this.container.getBoundingClientRect();
    return lensFor(this.bounds, width > 0 && height > 0 ? width / this.panes.length / height : 1);
  }

  /** The smaller of a pane's width and height, in pixels of the page. */
  get paneSize(): number {
    const { width, height } = this.container.getBoundingClientRect();
    return Math.max(1, Math.min(width / this.panes.length, height));
  }

  /** The pane under a place of the screen and the ray through it. */
  rayAt(clientX: number, clientY: number): { pane: number; ray: Ray } {
    const box = this.container.getBoundingClientRect();
    const width = box.width / this.panes.length;
    const pane = Math.min(Math.max(Math.floor((clientX - box.left) / width), 0), this.panes.length - 1);
    const x = (2 * (clientX - box.left - pane * width)) / width - 1;
    const y = 1 - (2 * (clientY - box.top)) / box.height;
    return { pane, ray: rayThrough(this.camera, this.lens, x, y) };
  }

  /** The place of the screen where a pane shows a point; null behind the eye. */
  screenPlace(pane: number, point: Vec3): [number, number] | null {
    const seen = seenAt(this.camera, this.lens, point);
    if (seen === null) return null;
    const box = this.container.getBoundingClientRect();
    const width = box.width / this.panes.length;
    return [box.left + (pane + (seen[0] + 1) / 2) * width, box.top + ((1 - seen[1]) / 2) * box.height];
  }

  private resize(): void {
    const { width, height } = this.container.getBoundingClientRect();
    const pixels = (length: number) => Math.max(1, Math.round(length * window.devicePixelRatio));
    const [across, up] = [pixels(width), pixels(height)];
    const before = this.view.getSize();
    if (before[0] === across && before[1] === up) return; // the observer reports the first size once more
    this.view.setSize(across, up);
    this.render();
  }
}
