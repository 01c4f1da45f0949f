// Making elements, and the controls every panel uses.

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

export function button(label: string, title: string, onClick: () => void): HTMLButtonElement {
  return h('button', { type: 'button', title, click: onClick }, label);
}

export function checkbox(label: string, checked: boolean, onChange: (on: boolean) => void): HTMLLabelElement {
  const input = h('input', { type: 'checkbox', checked, change: () => onChange(input.checked) });
  return h('label', { class: 'check' }, input, label);
}

export function select(
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  value: string,
  onChange: (value: string) => void,
): HTMLLabelElement {
  const input = h('select', { change: () => onChange(input.value) });
  for (const [key, text] of options) input.append(h('option', { value: key, selected: key === value }, text));
  return h('label', { class: 'row' }, h('span', {}, label), input);
}

/** Says below a field's row what is wrong with it; "" when nothing is. */
export function showInvalid(field: HTMLInputElement, words: string): void {
  const row = field.closest('.row') ?? field;
  if (row.nextElementSibling?.className === 'wrong') row.nextElementSibling.remove();
  field.setAttribute('aria-invalid', String(words !== ''));
  if (words !== '') row.after(h('p', { class: 'wrong', role: 'alert' }, words));
}

/** A positive number: a slider over four decades, and a field that takes any. */
export function speedControl(label: string, value: number, onInput: (value: number) => void): HTMLElement {
  const slider = h('input', { type: 'range', min: -2, max: 2, step: 0.01, 'aria-label': `${label}, slider` });
  const field = h('input', { type: 'number', min: 0, step: 'any', 'aria-label': label });
  slider.value = String(Math.log10(value));
  field.value = shortNumber(value);
  slider.addEventListener('input', () => {
    const chosen = Number((10 ** Number(slider.value)).toPrecision(3));
    field.value = String(chosen);
    showInvalid(field, '');
    onInput(chosen);
  });
  field.addEventListener('change', () => {
    const typed = Number(field.value);
    const good = Number.isFinite(typed) && typed > 0;
    showInvalid(field, good ? '' : 'A speed is a number above 0.');
    if (!good) return;
    slider.value = String(Math.log10(typed));
    onInput(typed);
  });
  return h('div', { class: 'row speed' }, h('span', {}, label), slider, field);
}

/** A number between two others. */
export function slider(
  label: string,
  value: number,
  [low, high, step]: readonly [number, number, number],
  onInput: (v: number) => void,
): HTMLElement {
  const input = h('input', { type: 'range', min: low, max: high, step, 'aria-label': label });
  input.value = String(value);
  const shown = h('output', { class: 'value' }, shortNumber(value));
  input.addEventListener('input', () => {
    shown.textContent = shortNumber(Number(input.value));
    onInput(Number(input.value));
  });
  return h('div', { class: 'row' }, h('span', {}, label), input, shown);
}

export function section(title: string, ...children: (Node | string)[]): HTMLElement {
  const details = h('details', { open: true }, h('summary', {}, title), ...children);
  return details;
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
