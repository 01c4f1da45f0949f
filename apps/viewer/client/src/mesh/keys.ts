// What keys do in the mesh mode; ui/help.ts lists them for the user.
import { arrows } from '../ui/keys';

export interface KeyActions {
  moveSource(x: number, y: number): void;
  turn(x: number, y: number): void;
  placeInMiddle(): void;
  nextSource(): void;
  deleteSource(): void;
  tool(name: 'set' | 'add' | 'path'): void;
  play(): void;
  stepMoment(direction: number): void;
  toggleIsochrones(): void;
  toggleClip(): void;
  toggleFront(): void;
  escape(): void;
}

/** For followKeys; `others` are keys that mean the same in all modes. */
export function meshKeys(
  actions: KeyActions,
  others: Record<string, () => void>,
): (event: KeyboardEvent) => (() => void) | undefined {
  const simple: Record<string, () => void> = {
    ...others,
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
    f: () => actions.toggleFront(),
    Escape: () => actions.escape(),
    ' ': () => actions.play(),
    Enter: () => actions.placeInMiddle(),
  };
  return ({ key, shiftKey }) => {
    const arrow = arrows[key];
    if (arrow === undefined) return simple[key];
    return () => (shiftKey ? actions.turn(...arrow) : actions.moveSource(...arrow));
  };
}
