// Keys that are pressed anywhere on the page.

export const arrows: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/** True where a control has a use of its own for the key. */
function takenBy(target: EventTarget | null, key: string): boolean {
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

/**
 * Does what `actionOf` has for a key, unless a control, an open dialog or the browser has a use of its own for it.
 * Listens until the signal is aborted.
 */
export function followKeys(actionOf: (event: KeyboardEvent) => (() => void) | undefined, signal: AbortSignal): void {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || takenBy(event.target, event.key)) return;
    if (document.querySelector('dialog[open]') !== null) return; // the dialog has its own Escape
    const action = actionOf(event);
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  window.addEventListener('keydown', onKey, { signal });
}
