// The controls beside the picture. They are made anew when the choice they offer changes, and otherwise left alone, so
// that the focus stays where it is.
import type { DataSet } from '../types';
import { button, checkbox, h, keepFocus, section, select, shortNumber, speedControl, showInvalid } from '../ui/dom';
import type { Path } from './answers';
import type { Compare, Inside, Model, Setting, SlotName } from './model';
import { defaultSetting, slotsOf, speedArrays } from './model';

export type Tool = 'set' | 'add' | 'path';

/** What the panel asks of the mode. */
export interface PanelActions {
  setTool(tool: Tool): void;
  /** Sources or their onset times have changed. */
  sourcesChanged(): void;
  settingChanged(slot: SlotName): void;
  compareChanged(): void;
  targetsChanged(): void;
  isochronesChanged(): void;
  fibersChanged(): void;
  coloringChanged(): void;
  clipChanged(): void;
  insideChanged(): void;
  unitChanged(): void;
  alignClip(): void;
}

export class Panel {
  readonly element = h('aside', { class: 'panel', 'aria-label': 'Controls' });
  private readonly sources = h('div', { class: 'list' });
  private readonly paths = h('div', { class: 'list' });
  private readonly settings = h('div');
  private readonly display = h('div');
  private readonly tools = h('div', { class: 'tools', role: 'group', 'aria-label': 'What a click does' });
  private tool: Tool = 'set';

  constructor(
    private readonly data: DataSet,
    private readonly model: Model,
    private readonly actions: PanelActions,
  ) {
    this.element.append(this.about());
    if (data.solvable) {
      this.element.append(
        section('Sources', this.tools, this.sources),
        section('Speed', this.settings),
        section('Paths', this.paths),
      );
    }
    this.element.append(section('Display', this.display));
    this.drawTools();
    this.drawAll();
  }

  get clickTool(): Tool {
    return this.tool;
  }

  chooseTool(tool: Tool): void {
    this.tool = tool;
    this.drawTools();
    this.actions.setTool(tool);
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
      this.sources.replaceChildren(h('p', { class: 'hint' }, 'None yet: click the surface.'));
      return;
    }
    const rows = model.sources.map((source, i) => {
      const name = `Source ${i + 1}`;
      const choose = button(name, `Select ${name}: arrow keys and clicks move it`, () => {
        model.selected = i;
        actions.sourcesChanged();
        this.drawSources();
      });
      choose.setAttribute('aria-pressed', String(i === model.selected));
      choose.className = 'name';
      const onset = h('input', {
        type: 'number',
        step: 'any',
        value: String(source.time),
        'aria-label': `Onset time of ${name}`,
      });
      onset.addEventListener('change', () => {
        const time = Number(onset.value);
        onset.setAttribute('aria-invalid', String(!Number.isFinite(time)));
        if (!Number.isFinite(time)) return;
        source.time = time;
        actions.sourcesChanged();
      });
      const remove = button('×', `Delete ${name} (Delete)`, () => {
        model.sources.splice(i, 1);
        model.selected = Math.min(model.selected, model.sources.length - 1);
        actions.sourcesChanged();
        this.drawSources();
      });
      remove.className = 'plain';
      remove.setAttribute('aria-label', `Delete ${name}`);
      const place = h(
        'span',
        { class: 'place' },
        source.point.map((x) => shortNumber(Number(x.toFixed(2)))).join(', '),
      );
      return h('div', { class: 'item' }, choose, place, h('label', { class: 'onset' }, 'onset', onset), remove);
    });
    keepFocus(this.sources, () => this.sources.replaceChildren(...rows));
  }

  drawPaths(paths: Partial<Record<SlotName, Path[]>>): void {
    const { model } = this;
    if (model.targets.length === 0) {
      this.paths.replaceChildren(h('p', { class: 'hint' }, 'Shift-click a point for its path and time.'));
      return;
    }
    const rows = model.targets.map((_, i) => {
      const states = slotsOf(model.compare).map((slot) => {
        const path = paths[slot]?.[i];
        const which = model.compare === 'off' ? '' : `${slot.toUpperCase()} `;
        if (path === undefined) return `${which}…`;
        if (!Number.isFinite(path.time)) return `${which}not reached`;
        return `${which}time ${shortNumber(path.time)}, length ${shortNumber(path.length)} ${this.data.units}`.trim();
      });
      const remove = button('×', `Delete path ${i + 1}`, () => {
        model.targets.splice(i, 1);
        this.actions.targetsChanged();
      });
      remove.className = 'plain';
      remove.setAttribute('aria-label', `Delete path ${i + 1}`);
      return h(
        'div',
        { class: 'item path' },
        h('span', { class: 'name' }, `Path ${i + 1}`),
        h('span', {}, states.join(' · ')),
        remove,
      );
    });
    keepFocus(this.paths, () => this.paths.replaceChildren(...rows));
  }

  drawSettings(): void {
    const { model, actions } = this;
    const compare = select(
      'Compare',
      [
        ['off', 'one setting'],
        ['ab', 'A | B'],
        ['difference', 'A | B | B − A'],
      ],
      model.compare,
      (value) => {
        model.compare = value as Compare;
        actions.compareChanged();
        this.drawSettings();
      },
    );
    const slots = slotsOf(model.compare).map((slot) => this.setting(slot));
    keepFocus(this.settings, () => this.settings.replaceChildren(compare, ...slots));
  }

  drawDisplay(): void {
    const { model, data, actions } = this;
    const parts: Node[] = [];
    const arrays = data.arrays.filter((a) => a.components === 1);
    if (arrays.length > 0) {
      const options = arrays.map((a) => [`${a.on}/${a.name}`, `${a.name} (${a.on})`] as const);
      parts.push(
        select('Colour by', [['', 'arrival time'], ...options], model.coloring, (value) => {
          model.coloring = value;
          actions.coloringChanged();
        }),
      );
    }
    if (data.solvable) parts.push(...this.isochroneControls());
    if (data.fibers.length > 0) {
      parts.push(
        select('Fibres', [['', 'hidden'], ...data.fibers.map((f) => [f, f] as const)], model.showFibers, (value) => {
          model.showFibers = value;
          actions.fibersChanged();
        }),
      );
    }
    if (data.tets > 0 && data.solvable) parts.push(this.insideControl());
    if (data.tets > 0) parts.push(...this.clipControls());
    keepFocus(this.display, () => this.display.replaceChildren(...parts));
  }

  private about(): HTMLElement {
    const { data } = this;
    const count = (n: number, what: string) => (n > 0 ? [`${n.toLocaleString('en')} ${what}`] : []);
    const text = [...count(data.points, 'vertices'), ...count(data.tets, 'tetrahedra')];
    if (data.tets === 0) text.push(...count(data.triangles, 'triangles'));
    return h('p', { class: 'about' }, text.join(', ') + (data.units === '' ? '' : `, in ${data.units}`));
  }

  private drawTools(): void {
    const tools: [Tool, string, string][] = [
      ['set', 'Set', 'A click sets or moves the source (1)'],
      ['add', 'Add', 'A click adds a source (2, or Ctrl-click)'],
      ['path', 'Path', 'A click asks for the path of a point (3, or Shift-click)'],
    ];
    this.tools.replaceChildren(
      ...tools.map(([tool, label, title]) => {
        const one = button(label, title, () => this.chooseTool(tool));
        one.setAttribute('aria-pressed', String(tool === this.tool));
        return one;
      }),
    );
  }

  private setting(slot: SlotName): HTMLElement {
    const { model, data, actions } = this;
    const setting = model.settings[slot];
    const kinds: [string, string][] = [['constant', 'one speed']];
    if (data.fibers.length > 0) kinds.push(['fibers', 'along fibres']);
    if (speedArrays(data).length > 0) kinds.push(['array', 'from an array']);
    const changed = () => actions.settingChanged(slot);
    const redraw = () => {
      changed();
      this.drawSettings();
    };
    const parts: Node[] = [];
    if (model.compare !== 'off') parts.push(h('h3', {}, `Setting ${slot.toUpperCase()}`));
    if (kinds.length > 1) {
      parts.push(
        select('Kind', kinds, setting.kind, (value) => {
          setting.kind = value as Setting['kind'];
          redraw();
        }),
      );
    }
    if (setting.kind === 'array') {
      const names = speedArrays(data).map((name) => [name, name] as const);
      parts.push(select('Array', names, setting.array, (value) => ((setting.array = value), changed())));
    } else if (setting.kind === 'fibers') {
      const names = data.fibers.map((name) => [name, name] as const);
      if (names.length > 1)
        parts.push(select('Fibres', names, setting.fibers, (v) => ((setting.fibers = v), changed())));
      parts.push(
        speedControl('Along', setting.along, (v) => ((setting.along = v), changed())),
        speedControl('Across', setting.across, (v) => ((setting.across = v), changed())),
      );
    } else {
      parts.push(speedControl('Speed', setting.speed, (v) => ((setting.speed = v), changed())));
    }
    if (data.regions !== null && setting.kind !== 'array')
      parts.push(...this.regionControls(setting, data.regions.values, redraw, changed));
    const group = h(
      'div',
      { class: 'setting', role: 'group', 'aria-label': `Setting ${slot.toUpperCase()}` },
      ...parts,
    );
    if (slot === 'b') {
      const copy = button('Copy A', 'Make setting B the same as A', () => {
        model.settings.b = structuredClone(model.settings.a);
        redraw();
      });
      group.append(copy);
    }
    const reset = button('Reset', 'Back to the first speeds', () => {
      model.settings[slot] = defaultSetting(data);
      redraw();
    });
    group.append(reset);
    return group;
  }

  private regionControls(setting: Setting, values: number[], redraw: () => void, changed: () => void): Node[] {
    const usual = setting.kind === 'fibers' ? setting.along : setting.speed;
    const parts: Node[] = [
      checkbox('Each region its own', setting.regions !== null, (on) => {
        setting.regions = on ? Object.fromEntries(values.map((value) => [String(value), usual])) : null;
        redraw();
      }),
    ];
    const { regions } = setting;
    if (regions === null) return parts;
    for (const value of values) {
      const speed = regions[String(value)] ?? usual;
      parts.push(speedControl(`Region ${value}`, speed, (v) => ((regions[String(value)] = v), changed())));
    }
    return parts;
  }

  private isochroneControls(): Node[] {
    const { model, actions } = this;
    const spacing = h('input', {
      type: 'number',
      min: 0,
      step: 'any',
      placeholder: 'automatic',
      'aria-label': 'Spacing of isochrones',
    });
    if (model.spacing > 0) spacing.value = String(model.spacing);
    spacing.addEventListener('change', () => {
      const typed = spacing.value === '' ? 0 : Number(spacing.value);
      const good = Number.isFinite(typed) && typed >= 0;
      showInvalid(spacing, good ? '' : 'A spacing is a number above 0; empty for an automatic one.');
      if (!good) return;
      model.spacing = typed;
      actions.isochronesChanged();
    });
    const unit = h('input', {
      type: 'text',
      maxlength: 20,
      value: model.timeUnit,
      placeholder: 'ms, s, …',
      'aria-label': 'Unit of times',
    });
    unit.addEventListener('input', () => {
      model.timeUnit = unit.value.trim();
      actions.unitChanged();
    });
    return [
      checkbox('Isochrones', model.showIsochrones, (on) => {
        model.showIsochrones = on;
        actions.isochronesChanged();
      }),
      h('label', { class: 'row' }, h('span', {}, 'Spacing'), spacing),
      h('label', { class: 'row' }, h('span', {}, 'Time unit'), unit),
    ];
  }

  private insideControl(): HTMLElement {
    const kinds = [
      ['', 'nothing'],
      ['front', 'the front'],
      ['isochrones', 'all isochrones'],
    ] as const;
    return select('Inside', kinds, this.model.inside, (value) => {
      this.model.inside = value as Inside;
      this.actions.insideChanged();
    });
  }

  private clipControls(): Node[] {
    const { model, actions } = this;
    const { clip } = model;
    const parts: Node[] = [
      checkbox('Clip', clip.on, (on) => {
        clip.on = on;
        actions.clipChanged();
        this.drawDisplay();
      }),
    ];
    if (!clip.on) return parts;
    const axes = (
      [
        ['x', [1, 0, 0]],
        ['y', [0, 1, 0]],
        ['z', [0, 0, 1]],
      ] as const
    ).map(([name, normal]) =>
      button(name, `Clip across ${name}`, () => {
        const same = clip.normal.every((n, i) => n === normal[i]);
        clip.normal = same ? [-normal[0], -normal[1], -normal[2]] : [...normal];
        actions.clipChanged();
      }),
    );
    axes.push(button('view', 'Clip across the line of sight', () => actions.alignClip()));
    const offset = h('input', {
      type: 'range',
      min: 0,
      max: 1,
      step: 0.005,
      value: clip.offset,
      'aria-label': 'Place of the clip plane',
    });
    offset.addEventListener('input', () => {
      clip.offset = Number(offset.value);
      actions.clipChanged();
    });
    parts.push(
      h('div', { class: 'tools', role: 'group', 'aria-label': 'Direction of the clip plane' }, ...axes),
      h('label', { class: 'row' }, h('span', {}, 'Place'), offset),
    );
    return parts;
  }
}
