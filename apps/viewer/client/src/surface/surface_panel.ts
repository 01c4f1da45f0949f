// The controls of the surface mode.
import type { Pack } from '../pack';
import type { DataSet, LabelInfo } from '../types';
import * as ui from '../ui/dom';
import { type Histogram, IsovaluePlot, qualityPlot } from './histogram';
import { type SurfaceModel, limits } from './surface_model';
import { qualityColors } from './surface_view';

export type SurfaceTool = 'look' | 'brush';

/** What the server says about a mesh. */
export function readFacts(pack: Pack) {
  const shapes = (pack.meta['quality'] ?? {}) as Record<string, number>;
  return {
    vertices: pack.number('vertices'),
    triangles: pack.number('triangles'),
    mean: shapes['mean'] ?? Number.NaN,
    min: shapes['min'] ?? Number.NaN,
    smallestAngle: shapes['smallest_angle'] ?? Number.NaN,
    largestAngle: shapes['largest_angle'] ?? Number.NaN,
    histogram: pack.ids('histogram'),
  };
}

type Facts = ReturnType<typeof readFacts>;

/** What the panel asks of the mode. */
export interface SurfaceActions {
  /** The object is another: its label or isovalue, or which side of it is inside. */
  objectChanged(): void;
  strokesChanged(): void;
  /** Says what is to be done next. */
  showHint(): void;
  redraw(): void;
  drawBrush(cursor: null): void;
  start(): Promise<void>;
  stop(): Promise<void>;
}

function numberField(label: string, value: number, good: (v: number) => boolean, onInput: (v: number) => void) {
  const field = ui.h('input', { type: 'number', step: 'any', 'aria-label': label });
  field.value = String(value);
  field.addEventListener('change', () => {
    const typed = field.value.trim() === '' ? Number.NaN : Number(field.value);
    const taken = Number.isFinite(typed) && good(typed);
    field.setAttribute('aria-invalid', String(!taken));
    if (taken) onInput(typed);
  });
  return { field, row: ui.row(label, field) };
}

export class SurfacePanel {
  readonly element = ui.h('aside', { class: 'panel', 'aria-label': 'Controls' });
  private readonly plot: IsovaluePlot;
  private readonly isovalue: ReturnType<typeof numberField>;
  private readonly object = ui.h('div');
  private readonly sizes = ui.h('div');
  private readonly brush = ui.h('div');
  private readonly quality = ui.h('div', { class: 'numbers' });
  private readonly display = ui.h('div');
  private readonly startButton: HTMLButtonElement;
  private readonly stopButton: HTMLButtonElement;
  tool: SurfaceTool = 'look';

  constructor(
    private readonly data: DataSet,
    private readonly model: SurfaceModel,
    histogram: Histogram,
    private readonly actions: SurfaceActions,
  ) {
    const moved = (isovalue: number) => {
      model.isovalue = isovalue;
      this.drawIsovalue();
      actions.objectChanged();
    };
    this.plot = new IsovaluePlot(histogram, moved);
    this.isovalue = numberField('Isovalue', model.isovalue, () => true, moved);
    this.startButton = ui.button('Start', 'Make the surface (Enter)', () => void actions.start(), { class: 'primary' });
    this.stopButton = ui.button('Stop', 'Stop the particles (Escape)', () => void actions.stop());
    this.element.append(
      ui.aboutImage(data),
      ui.section(data.labels ? 'Object' : 'Isovalue', this.object),
      ui.section('Triangles', this.sizes, ui.h('div', { class: 'tools' }, this.startButton, this.stopButton)),
      ui.section('Brush', this.brush),
      ui.section('Quality', this.quality),
      ui.section('Display', this.display),
    );
    this.drawAll();
    this.drawQuality(null);
    this.setRunning(false);
  }

  chooseTool(tool: SurfaceTool): void {
    this.tool = tool;
    this.drawBrush();
    this.actions.drawBrush(null);
  }

  setRunning(running: boolean): void {
    this.startButton.disabled = running || !this.data.solvable;
    this.stopButton.disabled = !running;
  }

  drawAll(): void {
    this.drawIsovalue();
    this.drawObject();
    this.drawSizes();
    this.drawBrush();
    this.drawDisplay();
  }

  drawBrush(): void {
    const { model, actions, data } = this;
    const tools = [
      ['look', 'Look', 'A drag turns the view (1)'],
      ['brush', 'Brush', 'A drag over the surface asks for more particles there (2)'],
    ] as const;
    const choose = ui.toolButtons(tools, this.tool, (tool) => this.chooseTool(tool));
    const voxel = Math.min(...(data.spacing ?? [1, 1, 1]));
    const strokes = model.strokes.map(({ points, radius, factor }, i) => {
      const text = `${points.length === 1 ? '1 place' : `${points.length} places`}, ${ui.withUnit(ui.shortNumber(radius), data.units)}, edges × ${ui.shortNumber(factor)}`;
      const remove = ui.crossButton(`Delete stroke ${i + 1}`, () => {
        model.strokes.splice(i, 1);
        actions.strokesChanged();
      });
      return ui.h('div', { class: 'item stroke' }, ui.h('span', {}, `${i + 1}.`), ui.h('span', {}, text), remove);
    });
    const undo = ui.button('Undo', 'Take back the last stroke (u)', () => this.undo());
    undo.disabled = strokes.length === 0;
    ui.keepFocus(this.brush, () =>
      this.brush.replaceChildren(
        ui.h('div', { class: 'tools', role: 'group', 'aria-label': 'What a drag does' }, ...choose),
        ui.slider('Radius', [voxel, 30 * voxel, voxel / 2], model.brush, 'radius'),
        ui.slider('Edges ×', [...limits.factor, 0.05], model.brush, 'factor'),
        ui.h('p', { class: 'hint' }, 'Edges half as long: four times as many triangles.'),
        ...strokes,
        undo,
      ),
    );
  }

  undo(): void {
    if (this.model.strokes.pop() !== undefined) this.actions.strokesChanged();
  }

  drawQuality(facts: Facts | null): void {
    if (facts === null) {
      this.quality.replaceChildren(ui.h('p', { class: 'hint' }, 'Shapes of the triangles, once there are some.'));
      return;
    }
    const shapes = `Radius ratio: mean ${facts.mean.toFixed(3)}, min ${facts.min.toFixed(3)} (1: equilateral)`;
    const angles = `Angles from ${facts.smallestAngle.toFixed(1)}° to ${facts.largestAngle.toFixed(1)}°`;
    this.quality.replaceChildren(
      qualityPlot(facts.histogram, qualityColors(51)),
      ui.h('p', { class: 'about' }, shapes),
      ui.h('p', { class: 'about' }, angles),
    );
  }

  drawDisplay(): void {
    const { model, actions } = this;
    const colorings = [
      ['plain', 'nothing'],
      ['quality', 'quality'],
      ['size', 'edge length'],
    ] as const;
    const changed = () => actions.redraw();
    this.display.replaceChildren(
      ui.select('Colour by', colorings, model, 'coloring', changed),
      ui.checkbox('Edges', model, 'showEdges', changed),
      ui.checkbox('Slices in the 3-D view', model, 'showSlices', changed),
    );
  }

  private drawIsovalue(): void {
    this.plot.draw(this.model.isovalue, this.model.inside);
    this.isovalue.field.value = String(this.model.isovalue);
    this.isovalue.field.setAttribute('aria-invalid', 'false');
  }

  private drawObject(): void {
    const { model } = this;
    const labels = this.data.labels ?? [];
    const kinds = [
      ['label', 'one label'],
      ['isovalue', 'one side of an isovalue'],
    ] as const;
    const parts: Node[] = [];
    if (labels.length > 0) {
      const changed = () => {
        this.drawObject();
        this.actions.objectChanged();
      };
      parts.push(ui.select('The object is', kinds, model, 'by', changed));
    }
    parts.push(...(model.by === 'label' ? [this.labelControl(labels)] : this.isovalueControls()));
    ui.keepFocus(this.object, () => this.object.replaceChildren(...parts));
  }

  private labelControl(labels: readonly LabelInfo[]): HTMLElement {
    const options = labels.map(({ value, voxels }) => {
      const count = `${voxels.toLocaleString('en')} ${voxels === 1 ? 'voxel' : 'voxels'}`;
      return [String(value), `${value} (${count})`] as const;
    });
    const chosen = { label: String(this.model.label) };
    return ui.select('Label', options, chosen, 'label', () => {
      this.model.label = Number(chosen.label);
      this.actions.objectChanged();
    });
  }

  private isovalueControls(): HTMLElement[] {
    const sides = [
      ['above', 'values above it'],
      ['below', 'values below it'],
    ] as const;
    const inside = ui.select('Inside are', sides, this.model, 'inside', () => {
      this.drawIsovalue();
      this.actions.objectChanged();
    });
    return [this.plot.element, this.isovalue.row, inside];
  }

  private drawSizes(): void {
    const { model, actions, data } = this;
    const kinds = [
      ['adapted', 'follow the shape'],
      ['uniform', 'all the same'],
    ] as const;
    const chosen = { kind: model.uniform > 0 ? 'uniform' : 'adapted' };
    const kind = ui.select('Sizes', kinds, chosen, 'kind', () => {
      model.uniform = chosen.kind === 'uniform' ? 2 * Math.min(...(data.spacing ?? [1, 1, 1])) : 0;
      this.drawSizes();
      actions.showHint();
    });
    const changed = () => actions.showHint();
    const setLength = (length: number) => {
      model.uniform = length;
      changed();
    };
    const controls =
      model.uniform > 0
        ? [numberField('Edge length', model.uniform, (v) => v > 0, setLength).row]
        : [
            ui.slider('Epsilon ε', [...limits.epsilon, 0.05], model, 'epsilon', changed),
            ui.slider('Delta δ', [...limits.delta, 0.05], model, 'delta', changed),
            ui.h('p', { class: 'hint' }, 'Less ε: more triangles where it bends. Less δ: sizes change more slowly.'),
          ];
    ui.keepFocus(this.sizes, () => this.sizes.replaceChildren(kind, ...controls));
  }
}
