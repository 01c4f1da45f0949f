// Making elements, and the controls every panel uses.
import type { DataSet } from '../types';

type Props = Record<string, string | number | boolean | ((event: Event) => void)>;

/** An element with attributes (functions listen to the event of that name) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

/** A part of a plot. */
export function svg(tag: string, attributes: Record<string, string | number>, text = ''): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.textContent = text;
  return element;
}

/** An empty plot as wide as a panel; without a label it is only decoration. */
export function plotArea(width: number, height: number, label: string, kind = ''): SVGElement {
  const named: Record<string, string> = label === '' ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': label };
  return svg('svg', { viewBox: `0 0 ${width} ${height}`, class: `plot ${kind}`.trim(), ...named });
}

/** Up to four digits, without a tail of zeros. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '–';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

/** A length with its unit, where the file says one. */
export function withUnit(length: string, unit: string): string {
  return unit === '' ? length : `${length} ${unit}`;
}

export function button(label: string, title: string, onClick: () => void, more: Props = {}): HTMLButtonElement {
  return h('button', { type: 'button', title, click: onClick, ...more }, label);
}

/** The small one that closes or deletes something. */
export function crossButton(label: string, onClick: () => void, title = label): HTMLButtonElement {
  return button('×', title, onClick, { class: 'plain', 'aria-label': label });
}

/** Buttons of which the current one is pressed. */
export function toolButtons<Tool extends string>(
  tools: readonly (readonly [tool: Tool, label: string, title: string])[],
  current: Tool,
  choose: (tool: Tool) => void,
): HTMLButtonElement[] {
  return tools.map(([tool, label, title]) =>
    button(label, title, () => choose(tool), { 'aria-pressed': String(tool === current) }),
  );
}

/** A control with its name before it. */
export function row(label: string, control: HTMLElement): HTMLLabelElement {
  return h('label', { class: 'row' }, h('span', {}, label), control);
}

// Controls of a field of a model: `changed` is called when the field has its new value.

export function checkbox<Key extends string>(
  label: string,
  model: Record<Key, boolean>,
  key: Key,
  changed: () => void,
): HTMLLabelElement {
  const change = () => {
    model[key] = input.checked;
    changed();
  };
  const input = h('input', { type: 'checkbox', checked: model[key], change });
  return h('label', { class: 'check' }, input, label);
}

export function select<Key extends string, Value extends string>(
  label: string,
  options: readonly (readonly [value: Value, text: string])[],
  model: Record<Key, Value>,
  key: Key,
  changed: () => void,
): HTMLLabelElement {
  const change = () => {
    model[key] = input.value as Value;
    changed();
  };
  const input = h('select', { change });
  for (const [value, text] of options) input.append(h('option', { value, selected: value === model[key] }, text));
  return row(label, input);
}

/** Says below a field's row what is wrong with it; "" when nothing is. */
export function showInvalid(field: HTMLInputElement, words: string): void {
  const around = field.closest('.row') ?? field;
  if (around.nextElementSibling?.className === 'wrong') around.nextElementSibling.remove();
  field.setAttribute('aria-invalid', String(words !== ''));
  if (words !== '') around.after(h('p', { class: 'wrong', role: 'alert' }, words));
}

/** A positive number: a slider over four decades, and a field that takes any. */
export function speedControl<Key extends string>(
  label: string,
  model: Record<Key, number>,
  key: Key,
  changed: () => void,
): HTMLElement {
  const slider = h('input', { type: 'range', min: -2, max: 2, step: 0.01, 'aria-label': `${label}, slider` });
  const field = h('input', { type: 'number', min: 0, step: 'any', 'aria-label': label });
  slider.value = String(Math.log10(model[key]));
  field.value = shortNumber(model[key]);
  slider.addEventListener('input', () => {
    model[key] = Number((10 ** Number(slider.value)).toPrecision(3));
    field.value = String(model[key]);
    showInvalid(field, '');
    changed();
  });
  field.addEventListener('change', () => {
    const typed = Number(field.value);
    const good = Number.isFinite(typed) && typed > 0;
    showInvalid(field, good ? '' : 'A speed is a number above 0.');
    if (!good) return;
    slider.value = String(Math.log10(typed));
    model[key] = typed;
    changed();
  });
  return h('div', { class: 'row speed' }, h('span', {}, label), slider, field);
}

/** A number between two others. */
export function slider<Key extends string>(
  label: string,
  [low, high, step]: readonly [number, number, number],
  model: Record<Key, number>,
  key: Key,
  changed: () => void = () => {},
): HTMLElement {
  const input = h('input', { type: 'range', min: low, max: high, step, 'aria-label': label });
  input.value = String(model[key]);
  const shown = h('output', { class: 'value' }, shortNumber(model[key]));
  input.addEventListener('input', () => {
    model[key] = Number(input.value);
    shown.textContent = shortNumber(model[key]);
    changed();
  });
  return h('div', { class: 'row' }, h('span', {}, label), input, shown);
}

export function section(title: string, ...children: (Node | string)[]): HTMLElement {
  return h('details', { open: true }, h('summary', {}, title), ...children);
}

/** What an image consists of. */
export function aboutImage({ shape, spacing, units }: DataSet): HTMLElement {
  const voxel = withUnit(spacing?.map(shortNumber).join(' × ') ?? '', units);
  return h('p', { class: 'about' }, `${shape?.join(' × ') ?? ''} voxels of ${voxel}`);
}

/** Draws the controls of a box anew; the focus stays on the control at the same place. */
export function keepFocus(box: HTMLElement, draw: () => void): void {
  const controls = () => [...box.querySelectorAll<HTMLElement>('button, input, select')];
  const at = controls().findIndex((control) => control === document.activeElement);
  draw();
  if (at >= 0) (controls()[at] ?? controls().at(-1))?.focus();
}

/** Hands a file to the user. */
export function download(blob: Blob, name: string): void {
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
