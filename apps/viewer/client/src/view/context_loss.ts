// What to do when the graphics driver takes its memory back: nothing but the drawing itself is lost with it.
import type { Notices } from '../ui/notices';

/** More losses than this mean that drawing again does not help. */
const maxLosses = 5;
/** Milliseconds; a driver that has just failed is left alone for so long. */
const pause = 300;

/** A handler of lost contexts that lets `drawAgain` make another one, unless the mode has ended by then. */
export function afterLoss(notices: Notices, ended: AbortSignal, drawAgain: () => void): () => void {
  let losses = 0;
  const retry = () => {
    if (ended.aborted) return;
    try {
      if (++losses > maxLosses) throw new Error('it was lost several times');
      drawAgain();
      notices.hide('webgl');
    } catch {
      const reload = { label: 'Reload', run: () => window.location.reload() };
      notices.show('webgl', 'error', 'The graphics context was lost and could not be made again.', reload);
    }
  };
  return () => {
    notices.show('webgl', 'warning', 'The graphics context was lost; drawing again …');
    window.setTimeout(retry, pause);
  };
}
