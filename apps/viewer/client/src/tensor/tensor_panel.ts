// The controls of the tensor mode.
import { type Color, css } from '../color_map';
import type { DataSet } from '../types';
import * as ui from '../ui/dom';
import { ticks } from '../ui/legend';
import { type Found, type TensorModel, newPathway } from './tensor_model';

export type TensorTool = 'look' | 'from' | 'to';

export interface TensorActions {
  pathwayChanged(index: number): void;
  pathwayRemoved(name: string): void;
  activeChanged(): void;
  displayChanged(): void;
  drawSlices(): void;
  drawFog(): Promise<void>;
}

const [width, height] = [262, 132];
const box = { left: 30, right: width - 34, top: 10, bottom: height - 26 };

type Profile = Record<'distance' | 'fa' | 'cost', Float32Array>;

/** FA as a solid line on the left scale, cost as a dashed one on the right. */
function profilePlot({ distance, fa, cost }: Profile, color: Color, unit: string): SVGElement {
  const length = distance.at(-1) ?? 0;
  const highest = cost.reduce((most, c) => (Number.isFinite(c) ? Math.max(most, c) : most), 0) || 1;
  const x = (d: number) => box.left + (d / (length || 1)) * (box.right - box.left);
  const y = (share: number) => box.bottom - share * (box.bottom - box.top);
  const line = (values: Float32Array, top: number) =>
    [...values]
      .map((value, i) => (Number.isFinite(value) ? `${x(distance[i]!).toFixed(1)},${y(value / top).toFixed(1)}` : ''))
      .join(' ');
  const label = `FA and cost along the path of ${ui.withUnit(ui.shortNumber(length), unit)}`;
  const plot = ui.plotArea(width, height, label, 'profile');
  const add = (tag: string, attributes: Record<string, string | number>, text = '') =>
    plot.append(ui.svg(tag, attributes, text));
  for (const tick of ticks(0, length, 4)) {
    add('text', { x: x(tick), y: box.bottom + 13, 'text-anchor': 'middle' }, ui.shortNumber(tick));
  }
  for (const share of [0, 0.5, 1]) {
    add('line', { x1: box.left, x2: box.right, y1: y(share), y2: y(share), class: 'grid' });
    add('text', { x: box.left - 4, y: y(share) + 4, 'text-anchor': 'end' }, String(share));
    add('text', { x: box.right + 4, y: y(share) + 4 }, ui.shortNumber(Number((share * highest).toPrecision(2))));
  }
  add('polyline', { points: line(fa, 1), class: 'fa', stroke: css(color) });
  add('polyline', { points: line(cost, highest), class: 'cost' });
  add('text', { x: box.left, y: height - 2 }, '— FA');
  add('text', { x: (box.left + box.right) / 2, y: height - 2, 'text-anchor': 'middle' }, 'mm along the path');
  add('text', { x: box.right + 30, y: height - 2, 'text-anchor': 'end' }, '- - cost');
  return plot;
}

export class TensorPanel {
  readonly element = ui.h('aside', { class: 'panel', 'aria-label': 'Controls' });
  private readonly tools = ui.h('div', { class: 'tools', role: 'group', 'aria-label': 'What a click on a slice does' });
  private readonly pathways = ui.h('div');
  private readonly numbers = ui.h('div', { class: 'numbers' });
  private readonly display = ui.h('div');
  tool: TensorTool = 'look';

  constructor(
    private readonly data: DataSet,
    private readonly model: TensorModel,
    private readonly spacing: number,
    private readonly actions: TensorActions,
  ) {
    this.element.append(
      ui.aboutImage(data),
      ui.section('Pick on the slices', this.tools),
      ui.section('Pathways', this.pathways),
      ui.section('Along the path', this.numbers),
      ui.section('Display', this.display),
    );
    this.drawAll([]);
  }

  chooseTool(tool: TensorTool): void {
    this.tool = tool;
    this.drawTools();
  }

  drawAll(found: readonly (Found | null)[]): void {
    this.drawTools();
    this.drawPathways(found);
    this.drawNumbers(found);
    this.drawDisplay();
  }

  drawPathways(found: readonly (Found | null)[]): void {
    const { model, actions } = this;
    const rows = model.pathways.map((pathway, i) => {
      const dot = ui.h('i', { class: 'dot' });
      dot.style.background = css(pathway.color);
      const activate = () => {
        model.active = i;
        actions.activeChanged();
      };
      const pressed = { class: 'name', 'aria-pressed': String(i === model.active) };
      const choose = ui.button(pathway.name, `Change ${pathway.name}`, activate, pressed);
      const cost = found[i]?.cost;
      const text = ui.h('span', { class: 'cost' }, cost === undefined ? '' : `cost ${ui.shortNumber(cost)}`);
      const remove = ui.crossButton(`Delete ${pathway.name}`, () => {
        model.pathways.splice(i, 1);
        if (model.pathways.length === 0) model.pathways.push(newPathway(model));
        model.active = Math.min(model.active, model.pathways.length - 1);
        actions.pathwayRemoved(pathway.name);
      });
      return ui.h('div', { class: 'item path' }, dot, choose, text, remove);
    });
    const add = ui.button('New pathway', 'Two more regions to join', () => {
      model.active = model.pathways.push(newPathway(model)) - 1;
      actions.activeChanged();
    });
    ui.keepFocus(this.pathways, () => this.pathways.replaceChildren(...rows, add, ...this.activeControls()));
  }

  drawNumbers(found: readonly (Found | null)[]): void {
    const pathway = this.model.pathways[this.model.active];
    const one = found[this.model.active];
    if (pathway === undefined || one === undefined || one === null) {
      this.numbers.replaceChildren(ui.h('p', { class: 'hint' }, 'Set region A and region B.'));
      return;
    }
    const { units } = this.data;
    const length = ui.withUnit(ui.shortNumber(one.length), units);
    const volume = ui.withUnit(ui.shortNumber(one.volume), units === '' ? '' : `${units}³`);
    const facts = `${length}, mean FA ${ui.shortNumber(one.meanFa)}; pathway of ${one.voxels.toLocaleString('en')} voxels, ${volume}`;
    this.numbers.replaceChildren(profilePlot(one.profile, pathway.color, units), ui.h('p', { class: 'about' }, facts));
  }

  private activeControls(): Node[] {
    const { model, actions } = this;
    const pathway = model.pathways[model.active];
    if (pathway === undefined) return [];
    const changed = () => actions.pathwayChanged(model.active);
    const radii = [this.spacing / 2, 12 * this.spacing, this.spacing / 4] as const;
    return [
      ...(pathway.from === null ? [] : [ui.slider('Radius A', radii, pathway.from, 'radius', changed)]),
      ...(pathway.to === null ? [] : [ui.slider('Radius B', radii, pathway.to, 'radius', changed)]),
      ui.slider('Sharpen α', [1, 8, 0.25], pathway, 'alpha', changed),
      ui.slider('Width ε', [0, 0.5, 0.005], pathway, 'epsilon', changed),
    ];
  }

  private drawTools(): void {
    const tools = [
      ['look', 'Look', 'A click moves the crosshair (1)'],
      ['from', 'Region A', 'A click sets region A (2)'],
      ['to', 'Region B', 'A click sets region B (3)'],
    ] as const;
    this.tools.replaceChildren(...ui.toolButtons(tools, this.tool, (tool) => this.chooseTool(tool)));
  }

  private drawDisplay(): void {
    const { model, actions } = this;
    const backgrounds = [
      ['direction', 'directions'],
      ['fa', 'FA'],
    ] as const;
    const fogs = [
      ['', 'none'],
      ['fa', 'FA'],
      ['cost', 'total cost'],
    ] as const;
    const changed = () => actions.displayChanged();
    this.display.replaceChildren(
      ui.select('Slices', backgrounds, model, 'background', () => actions.drawSlices()),
      ui.select('Volume', fogs, model, 'fog', () => void actions.drawFog()),
      ui.checkbox('Pathways', model, 'showSurface', changed),
      ui.checkbox('Paths', model, 'showTube', changed),
      ui.checkbox('Tensor glyphs', model, 'showGlyphs', changed),
      ui.checkbox('Slices in the 3-D view', model, 'showSlices', changed),
    );
  }
}
