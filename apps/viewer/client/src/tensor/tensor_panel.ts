// The controls of the tensor mode.
import { css } from '../color_map';
import type { DataSet } from '../types';
import {
  aboutImage,
  button,
  checkbox,
  crossButton,
  h,
  keepFocus,
  section,
  select,
  shortNumber,
  slider,
  toolButtons,
  withUnit,
} from '../ui/dom';
import { profilePlot } from './profile';
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

export class TensorPanel {
  readonly element = h('aside', { class: 'panel', 'aria-label': 'Controls' });
  private readonly tools = h('div', { class: 'tools', role: 'group', 'aria-label': 'What a click on a slice does' });
  private readonly pathways = h('div');
  private readonly numbers = h('div', { class: 'numbers' });
  private readonly display = h('div');
  tool: TensorTool = 'look';

  constructor(
    private readonly data: DataSet,
    private readonly model: TensorModel,
    private readonly spacing: number,
    private readonly actions: TensorActions,
  ) {
    this.element.append(
      aboutImage(data),
      section('Pick on the slices', this.tools),
      section('Pathways', this.pathways),
      section('Along the path', this.numbers),
      section('Display', this.display),
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
      const dot = h('i', { class: 'dot' });
      dot.style.background = css(pathway.color);
      const activate = () => {
        model.active = i;
        actions.activeChanged();
      };
      const pressed = { class: 'name', 'aria-pressed': String(i === model.active) };
      const choose = button(pathway.name, `Change ${pathway.name}`, activate, pressed);
      const cost = found[i]?.cost;
      const text = h('span', { class: 'cost' }, cost === undefined ? '' : `cost ${shortNumber(cost)}`);
      const remove = crossButton(`Delete ${pathway.name}`, () => {
        model.pathways.splice(i, 1);
        if (model.pathways.length === 0) model.pathways.push(newPathway(model));
        model.active = Math.min(model.active, model.pathways.length - 1);
        actions.pathwayRemoved(pathway.name);
      });
      return h('div', { class: 'item path' }, dot, choose, text, remove);
    });
    const add = button('New pathway', 'Two more regions to join', () => {
      model.active = model.pathways.push(newPathway(model)) - 1;
      actions.activeChanged();
    });
    keepFocus(this.pathways, () => this.pathways.replaceChildren(...rows, add, ...this.activeControls()));
  }

  drawNumbers(found: readonly (Found | null)[]): void {
    const pathway = this.model.pathways[this.model.active];
    const one = found[this.model.active];
    if (pathway === undefined || one === undefined || one === null) {
      this.numbers.replaceChildren(h('p', { class: 'hint' }, 'Set region A and region B.'));
      return;
    }
    const { units } = this.data;
    const length = withUnit(shortNumber(one.length), units);
    const volume = withUnit(shortNumber(one.volume), units === '' ? '' : `${units}³`);
    const facts = `${length}, mean FA ${shortNumber(one.meanFa)}; pathway of ${one.voxels.toLocaleString('en')} voxels, ${volume}`;
    this.numbers.replaceChildren(profilePlot(one.profile, pathway.color, units), h('p', { class: 'about' }, facts));
  }

  private activeControls(): Node[] {
    const { model, actions } = this;
    const pathway = model.pathways[model.active];
    if (pathway === undefined) return [];
    const changed = () => actions.pathwayChanged(model.active);
    const radii = [this.spacing / 2, 12 * this.spacing, this.spacing / 4] as const;
    return [
      ...(pathway.from === null ? [] : [slider('Radius A', radii, pathway.from, 'radius', changed)]),
      ...(pathway.to === null ? [] : [slider('Radius B', radii, pathway.to, 'radius', changed)]),
      slider('Sharpen α', [1, 8, 0.25], pathway, 'alpha', changed),
      slider('Width ε', [0, 0.5, 0.005], pathway, 'epsilon', changed),
    ];
  }

  private drawTools(): void {
    const tools = [
      ['look', 'Look', 'A click moves the crosshair (1)'],
      ['from', 'Region A', 'A click sets region A (2)'],
      ['to', 'Region B', 'A click sets region B (3)'],
    ] as const;
    this.tools.replaceChildren(...toolButtons(tools, this.tool, (tool) => this.chooseTool(tool)));
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
      select('Slices', backgrounds, model, 'background', () => actions.drawSlices()),
      select('Volume', fogs, model, 'fog', () => void actions.drawFog()),
      checkbox('Pathways', model, 'showSurface', changed),
      checkbox('Paths', model, 'showTube', changed),
      checkbox('Tensor glyphs', model, 'showGlyphs', changed),
      checkbox('Slices in the 3-D view', model, 'showSlices', changed),
    );
  }
}
