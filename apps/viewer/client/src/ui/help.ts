// The panel behind "?".
import { button, h } from './dom';

const meshKeys: readonly (readonly [keys: string, what: string])[] = [
  ['click', 'set the source, or move the selected one'],
  ['drag a source', 'move it; times follow'],
  ['Ctrl-click', 'add a source'],
  ['Shift-click', 'path and time of a point'],
  ['drag · Shift-drag · wheel', 'turn · move · zoom the view'],
  ['Enter', 'set the source in the middle of the view'],
  ['arrows', 'move the selected source along the surface'],
  ['Shift + arrows', 'turn the view'],
  ['+  −  0', 'zoom in, zoom out, see everything'],
  ['n', 'select the next source'],
  ['Delete', 'delete the selected source'],
  ['1  2  3', 'a click sets, adds, asks for a path'],
  ['space', 'let the front run, or stop it'],
  ['[  ]', 'one moment back, one on'],
  ['i', 'isochrones on and off'],
  ['c', 'clip plane on and off'],
  ['f', 'the front inside a volume on and off'],
  ['s', 'save a picture'],
  ['Escape', 'close this; show all times'],
  ['?', 'this help'],
];

const tensorKeys: typeof meshKeys = [
  ['1  2  3', 'a click on a slice moves the crosshair, sets region A, region B'],
  ['arrows on a slice', 'move the crosshair'],
  ['Page Up, Page Down, wheel', 'next slices'],
  ['+  −  0 · s', 'zoom in, zoom out, see everything · save a picture'],
];

const surfaceKeys: typeof meshKeys = [
  ['Enter · Escape', 'make the surface · stop'],
  ['arrows on the histogram', 'move the isovalue'],
  ['1  2', 'a drag turns the view, brushes the surface'],
  ['b · u', 'brush in the middle of the view · undo the last stroke'],
  ['e', 'edges on and off'],
  ['arrows on the 3-D view', 'turn it'],
];

export class Help {
  readonly element = h('dialog', { class: 'help', 'aria-label': 'Help' });

  constructor() {
    const row = ([key, what]: readonly [string, string]) =>
      h('tr', {}, h('th', { scope: 'row' }, key), h('td', {}, what));
    const table = (title: string, rows: typeof meshKeys) => [
      h('h2', {}, title),
      h('table', {}, h('tbody', {}, ...rows.map(row))),
    ];
    const colors = 'Colours run from early (dark violet) to late (yellow); grey was not reached.';
    this.element.append(
      ...table('Meshes', meshKeys),
      ...table('Tensor images', tensorKeys),
      ...table('Volumes', surfaceKeys),
      h('p', {}, `${colors} Tab reaches every control.`),
      button('Close', 'Close (Escape)', () => this.element.close()),
    );
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else {
      this.element.showModal();
      this.element.scrollTop = 0; // the focus is on the button at the end
    }
  }
}
