// The controls of the tensor mode.
import { css } from '../color_map';
import type { DataSet } from '../types';
import { button, checkbox, h, keepFocus, section, select, shortNumber, slider, withUnit } from '../ui/dom';
import { profilePlot } from './profile';
import type { Background, Fog, Found, Region, TensorModel } from './tensor_model';
import { newPathway } from './tensor_model';

export type TensorTool = 'look' | 'from' | 'to';

export interface TensorActions {
  pathwayChanged(index: number): void;
  pathwayRemoved(name: string): void;
  activeChanged(): void;
  backgroundChanged(): void;
  displayChanged(): void;
  fogChanged(): void;
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
    const shape = data.shape?.join(' × ') ?? '';
    this.element.append(
      h('p', { class: 'about' }, `${shape} voxels of ${withUnit(data.spacing?.map(shortNumber).join(' × ') ?? '', data.units)}`),
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
      const choose = button(pathway.name, `Change ${pathway.name}`, () => {
        model.active = i;
        actions.activeChanged();
      });
      choose.className = 'name';
      choose.setAttribute('aria-pressed', String(i === model.active));
      const cost = found[i]?.cost;
      const text = h('span', { class: 'cost' }, cost === undefined ? '' : `cost ${shortNumber(cost)}`);
      const remove = button('×', `Delete ${pathway.name}`, () => {
        model.pathways.splice(i, 1);
        if (model.pathways.length === 0) model.pathways.push(newPathway(model));
        model.active = Math.min(model.active, model.pathways.length - 1);
        actions.pathwayRemoved(pathway.name);
      });
      remove.className = 'plain';
      remove.setAttribute('aria-label', `Delete ${pathway.name}`);
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
    const largest = 12 * this.spacing;
    const radius = (label: string, region: Region | null) =>
      region === null
        ? []
        : [
            slider(
              label,
              region.radius,
              [this.spacing / 2, largest, this.spacing / 4],
              (v) => ((region.radius = v), changed()),
            ),
          ];
    return [
      ...radius('Radius A', pathway.from),
      ...radius('Radius B', pathway.to),
      slider('Sharpen α', pathway.alpha, [1, 8, 0.25], (v) => ((pathway.alpha = v), changed())),
      slider('Width ε', pathway.epsilon, [0, 0.5, 0.005], (v) => ((pathway.epsilon = v), changed())),
    ];
  }

  private drawTools(): void {
    const tools: [TensorTool, string, string][] = [
      ['look', 'Look', 'A click moves the crosshair (1)'],
      ['from', 'Region A', 'A click sets region A (2)'],
      ['to', 'Region B', 'A click sets region B (3)'],
    ];
    this.tools.replaceChildren(
      ...tools.map(([tool, label, title]) => {
        const one = button(label, title, () => this.chooseTool(tool));
        one.setAttribute('aria-pressed', String(tool === this.tool));
        return one;
      }),
    );
  }

  private drawDisplay(): void {
    const { model, actions } = this;
    const show = (label: string, key: 'showSurface' | 'showTube' | 'showGlyphs' | 'showSlices') =>
      checkbox(label, model[key], (on) => {
        model[key] = on;
        actions.displayChanged();
      });
    const background = select(
      'Slices',
      [
        ['direction', 'directions'],
        ['fa', 'FA'],
      ],
      model.background,
      (value) => {
        model.background = value as Background;
        actions.backgroundChanged();
      },
    );
    const fog = select(
      'Volume',
      [
        ['', 'none'],
        ['fa', 'FA'],
        ['cost', 'total cost'],
      ],
      model.fog,
      (value) => {
        model.fog = value as Fog;
        actions.fogChanged();
      },
    );
    this.display.replaceChildren(
      background,
      fog,
      show('Pathways', 'showSurface'),
      show('Paths', 'showTube'),
      show('Tensor glyphs', 'showGlyphs'),
      show('Slices in the 3-D view', 'showSlices'),
    );
  }
}
