// The controls beside the picture. They are made anew when the choice they offer changes, and otherwise left alone, so
// that the focus stays where it is.
import type { DataSet } from '../types';
import * as ui from '../ui/dom';
import type { Path } from './answers';
import { type Inside, type Model, type Setting, type SlotName, defaultSetting, slotsOf, speedArrays } from './model';
import type { Part } from './requests';

export type Tool = 'set' | 'add' | 'path';

/** What the panel asks of the mode. */
export interface PanelActions {
  /** Asks the server for what has changed. */
  readonly requests: { want(part: Part): void; wantArrivals(): void };
  /** Sources or their onset times have changed. */
  sourcesChanged(): void;
  compareChanged(): void;
  targetsChanged(): void;
  redraw(): void;
  alignClip(): void;
}

const named = (names: readonly string[]) => names.map((name) => [name, name] as const);

export class Panel {
  readonly element = ui.h('aside', { class: 'panel', 'aria-label': 'Controls' });
  private readonly sources = ui.h('div', { class: 'list' });
  private readonly paths = ui.h('div', { class: 'list' });
  private readonly settings = ui.h('div');
  private readonly display = ui.h('div');
  private readonly tools = ui.h('div', { class: 'tools', role: 'group', 'aria-label': 'What a click does' });
  private tool: Tool = 'set';

  constructor(
    private readonly data: DataSet,
    private readonly model: Model,
    private readonly actions: PanelActions,
  ) {
    this.element.append(this.about());
    if (data.solvable) {
      this.element.append(
        ui.section('Sources', this.tools, this.sources),
        ui.section('Speed', this.settings),
        ui.section('Paths', this.paths),
      );
    }
    this.element.append(ui.section('Display', this.display));
    this.drawTools();
    this.drawAll();
  }

  get clickTool(): Tool {
    return this.tool;
  }

  chooseTool(tool: Tool): void {
    this.tool = tool;
    this.drawTools();
  }

  drawAll(): void {
    this.drawSources();
    this.drawSettings();
    this.drawPaths({});
    this.drawDisplay();
  }

  drawSources(): void {
    const { model, actions } = this;
    if (model.sources.length === 0) {
      this.sources.replaceChildren(ui.h('p', { class: 'hint' }, 'None yet: click the surface.'));
      return;
    }
    const rows = model.sources.map((source, i) => {
      const name = `Source ${i + 1}`;
      const select = () => {
        model.selected = i;
        actions.sourcesChanged();
        this.drawSources();
      };
      const pressed = { class: 'name', 'aria-pressed': String(i === model.selected) };
      const choose = ui.button(name, `Select ${name}: arrow keys and clicks move it`, select, pressed);
      const change = () => {
        const time = Number(onset.value);
        onset.setAttribute('aria-invalid', String(!Number.isFinite(time)));
        if (!Number.isFinite(time)) return;
        source.time = time;
        actions.sourcesChanged();
      };
      const field = { type: 'number', step: 'any', value: source.time, 'aria-label': `Onset time of ${name}` };
      const onset = ui.h('input', { ...field, change });
      const remove = () => {
        model.sources.splice(i, 1);
        model.selected = Math.min(model.selected, model.sources.length - 1);
        actions.sourcesChanged();
        this.drawSources();
      };
      const cross = ui.crossButton(`Delete ${name}`, remove, `Delete ${name} (Delete)`);
      return ui.h('div', { class: 'item' }, choose, ui.h('label', { class: 'onset' }, 'onset', onset), cross);
    });
    ui.keepFocus(this.sources, () => this.sources.replaceChildren(...rows));
  }

  drawPaths(paths: Partial<Record<SlotName, Path[]>>): void {
    const { model } = this;
    if (model.targets.length === 0) {
      this.paths.replaceChildren(ui.h('p', { class: 'hint' }, 'Shift-click a point for its path and time.'));
      return;
    }
    const rows = model.targets.map((_, i) => {
      const states = slotsOf(model.compare).map((slot) => {
        const path = paths[slot]?.[i];
        const which = model.compare === 'off' ? '' : `${slot.toUpperCase()} `;
        if (path === undefined) return `${which}…`;
        if (!Number.isFinite(path.time)) return `${which}not reached`;
        return `${which}time ${ui.shortNumber(path.time)}, length ${ui.shortNumber(path.length)} ${this.data.units}`.trim();
      });
      const remove = ui.crossButton(`Delete path ${i + 1}`, () => {
        model.targets.splice(i, 1);
        this.actions.targetsChanged();
      });
      const name = ui.h('span', { class: 'name' }, `Path ${i + 1}`);
      return ui.h('div', { class: 'item path' }, name, ui.h('span', {}, states.join(' · ')), remove);
    });
    ui.keepFocus(this.paths, () => this.paths.replaceChildren(...rows));
  }

  drawSettings(): void {
    const { model, actions } = this;
    const kinds = [
      ['off', 'one setting'],
      ['ab', 'A | B'],
      ['difference', 'A | B | B − A'],
    ] as const;
    const compare = ui.select('Compare', kinds, model, 'compare', () => {
      actions.compareChanged();
      this.drawSettings();
    });
    const slots = slotsOf(model.compare).map((slot) => this.setting(slot));
    ui.keepFocus(this.settings, () => this.settings.replaceChildren(compare, ...slots));
  }

  drawDisplay(): void {
    const { model, data, actions } = this;
    const parts: Node[] = [];
    const arrays = data.arrays.filter((a) => a.components === 1);
    const fibers = [['', 'hidden'], ...named(data.fibers)] as const;
    if (arrays.length > 0) {
      const options = arrays.map((a) => [`${a.on}/${a.name}`, `${a.name} (${a.on})`] as const);
      const all = [['', 'arrival time'], ...options] as const;
      parts.push(ui.select('Colour by', all, model, 'coloring', () => actions.requests.want('array')));
    }
    if (data.solvable) parts.push(...this.isochroneControls());
    if (data.fibers.length > 0)
      parts.push(ui.select('Fibres', fibers, model, 'showFibers', () => actions.requests.want('fibers')));
    if (data.tets > 0 && data.solvable) parts.push(this.insideControl());
    if (data.tets > 0) parts.push(...this.clipControls());
    ui.keepFocus(this.display, () => this.display.replaceChildren(...parts));
  }

  private about(): HTMLElement {
    const { data } = this;
    const count = (n: number, what: string) => (n > 0 ? [`${n.toLocaleString('en')} ${what}`] : []);
    const text = [...count(data.points, 'vertices'), ...count(data.tets, 'tetrahedra')];
    if (data.tets === 0) text.push(...count(data.triangles, 'triangles'));
    return ui.h('p', { class: 'about' }, text.join(', ') + (data.units === '' ? '' : `, in ${data.units}`));
  }

  private drawTools(): void {
    const tools = [
      ['set', 'Set', 'A click sets or moves the source (1)'],
      ['add', 'Add', 'A click adds a source (2, or Ctrl-click)'],
      ['path', 'Path', 'A click asks for the path of a point (3, or Shift-click)'],
    ] as const;
    this.tools.replaceChildren(...ui.toolButtons(tools, this.tool, (tool) => this.chooseTool(tool)));
  }

  private setting(slot: SlotName): HTMLElement {
    const { model, data, actions } = this;
    const setting = model.settings[slot];
    const kinds: [Setting['kind'], string][] = [['constant', 'one speed']];
    if (data.fibers.length > 0) kinds.push(['fibers', 'along fibres']);
    if (speedArrays(data).length > 0) kinds.push(['array', 'from an array']);
    const changed = () => actions.requests.want(slot);
    const redraw = () => {
      changed();
      this.drawSettings();
    };
    const name = `Setting ${slot.toUpperCase()}`;
    const group = ui.h('div', { class: 'setting', role: 'group', 'aria-label': name });
    if (model.compare !== 'off') group.append(ui.h('h3', {}, name));
    if (kinds.length > 1) group.append(ui.select('Kind', kinds, setting, 'kind', redraw));
    if (setting.kind === 'array') {
      group.append(ui.select('Array', named(speedArrays(data)), setting, 'array', changed));
    } else if (setting.kind === 'fibers') {
      if (data.fibers.length > 1) group.append(ui.select('Fibres', named(data.fibers), setting, 'fibers', changed));
      group.append(
        ui.speedControl('Along', setting, 'along', changed),
        ui.speedControl('Across', setting, 'across', changed),
      );
    } else {
      group.append(ui.speedControl('Speed', setting, 'speed', changed));
    }
    if (data.regions !== null && setting.kind !== 'array')
      group.append(...this.regionControls(setting, data.regions.values, redraw, changed));
    const assign = (make: () => Setting) => () => {
      model.settings[slot] = make();
      redraw();
    };
    if (slot === 'b') {
      const copy = assign(() => structuredClone(model.settings.a));
      group.append(ui.button('Copy A', 'Make setting B the same as A', copy));
    }
    const reset = assign(() => defaultSetting(data));
    group.append(ui.button('Reset', 'Back to the first speeds', reset));
    return group;
  }

  private regionControls(setting: Setting, values: number[], redraw: () => void, changed: () => void): Node[] {
    const usual = setting.kind === 'fibers' ? setting.along : setting.speed;
    const own = { on: setting.regions !== null };
    const parts: Node[] = [
      ui.checkbox('Each region its own', own, 'on', () => {
        setting.regions = own.on ? Object.fromEntries(values.map((value) => [String(value), usual])) : null;
        redraw();
      }),
    ];
    const { regions } = setting;
    if (regions === null) return parts;
    const controls = values.map((value) => {
      const region = { speed: regions[String(value)] ?? usual };
      return ui.speedControl(`Region ${value}`, region, 'speed', () => {
        regions[String(value)] = region.speed;
        changed();
      });
    });
    return [...parts, ...controls];
  }

  private isochroneControls(): Node[] {
    const { model, actions } = this;
    const field = { type: 'number', min: 0, step: 'any', placeholder: 'automatic' };
    const spacing = ui.h('input', { ...field, 'aria-label': 'Spacing of isochrones' });
    if (model.spacing > 0) spacing.value = String(model.spacing);
    spacing.addEventListener('change', () => {
      const typed = spacing.value === '' ? 0 : Number(spacing.value);
      const good = Number.isFinite(typed) && typed >= 0;
      ui.showInvalid(spacing, good ? '' : 'A spacing is a number above 0; empty for an automatic one.');
      if (!good) return;
      model.spacing = typed;
      actions.requests.wantArrivals();
    });
    const text = { type: 'text', maxlength: 20, value: model.timeUnit, placeholder: 'ms, s, …' };
    const unit = ui.h('input', { ...text, 'aria-label': 'Unit of times' });
    unit.addEventListener('input', () => {
      model.timeUnit = unit.value.trim();
      actions.redraw();
    });
    const shown = ui.checkbox('Isochrones', model, 'showIsochrones', () => actions.requests.wantArrivals());
    return [shown, ui.row('Spacing', spacing), ui.row('Time unit', unit)];
  }

  private insideControl(): HTMLElement {
    const kinds: [Inside, string][] = [
      ['', 'nothing'],
      ['front', 'the front'],
      ['isochrones', 'all isochrones'],
    ];
    return ui.select('Inside', kinds, this.model, 'inside', () => this.actions.requests.want('surfaces'));
  }

  private clipControls(): Node[] {
    const { clip } = this.model;
    const changed = () => this.actions.requests.want('clip');
    const on = ui.checkbox('Clip', clip, 'on', () => {
      changed();
      this.drawDisplay();
    });
    if (!clip.on) return [on];
    const axes = ['x', 'y', 'z'].map((name, axis) =>
      ui.button(name, `Clip across ${name}`, () => {
        const same = clip.normal.every((n, i) => n === (i === axis ? 1 : 0));
        clip.normal = [0, 0, 0];
        clip.normal[axis] = same ? -1 : 1;
        changed();
      }),
    );
    axes.push(ui.button('view', 'Clip across the line of sight', () => this.actions.alignClip()));
    const range = { type: 'range', min: 0, max: 1, step: 0.005, value: clip.offset };
    const offset = ui.h('input', { ...range, 'aria-label': 'Place of the clip plane' });
    offset.addEventListener('input', () => {
      clip.offset = Number(offset.value);
      changed();
    });
    const directions = ui.h(
      'div',
      { class: 'tools', role: 'group', 'aria-label': 'Direction of the clip plane' },
      ...axes,
    );
    return [on, directions, ui.row('Place', offset)];
  }
}
