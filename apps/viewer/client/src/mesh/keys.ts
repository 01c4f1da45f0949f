// What keys do in the mesh mode. ui/help.ts tells the user.

export interface KeyActions {
  moveSource(x: number, y: number): void;
  turn(x: number, y: number): void;
  zoom(factor: number): void;
  resetView(): void;
  placeInMiddle(): void;
  nextSource(): void;
  deleteSource(): void;
  tool(name: 'set' | 'add' | 'path'): void;
  play(): void;
  stepMoment(direction: number): void;
  toggleIsochrones(): void;
  toggleClip(): void;
  savePicture(): void;
  escape(): void;
  help(): void;
}

const arrows: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** True where a control has a use of its own for the key. */
export function takenBy(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLSelectElement) return key !== 'Escape';
  if (target instanceof HTMLInputElement) {
    if (target.type === 'range') return key in arrows;
    if (target.type === 'checkbox') return key === ' ';
    return key !== 'Escape';
  }
  const pressed =
    target instanceof HTMLButtonElement || (target instanceof HTMLElement && target.tagName === 'SUMMARY');
  return pressed && (key === ' ' || key === 'Enter');
}

/** Listens until the signal is aborted. */
export function followKeys(actions: KeyActions, signal: AbortSignal): void {
  const simple: Record<string, () => void> = {
    '+': () => actions.zoom(1.15),
    '=': () => actions.zoom(1.15),
    '-': () => actions.zoom(1 / 1.15),
    '0': () => actions.resetView(),
    n: () => actions.nextSource(),
    Delete: () => actions.deleteSource(),
    Backspace: () => actions.deleteSource(),
    '1': () => actions.tool('set'),
    '2': () => actions.tool('add'),
    '3': () => actions.tool('path'),
    '[': () => actions.stepMoment(-1),
    ']': () => actions.stepMoment(1),
    i: () => actions.toggleIsochrones(),
    c: () => actions.toggleClip(),
    s: () => actions.savePicture(),
    '?': () => actions.help(),
    Escape: () => actions.escape(),
    ' ': () => actions.play(),
    Enter: () => actions.placeInMiddle(),
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || takenBy(event.target, event.key)) return;
    if (document.querySelector('dialog[open]') !== null) return; // the dialog has its own Escape
    const arrow = arrows[event.key];
    if (arrow !== undefined) {
      if (event.shiftKey) actions.turn(...arrow);
      else actions.moveSource(...arrow);
    } else {
      const action = simple[event.key];
      if (action === undefined) return;
      action();
    }
    event.preventDefault();
  };
  window.addEventListener('keydown', onKey, { signal });
}
