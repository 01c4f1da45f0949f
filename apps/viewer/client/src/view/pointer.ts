// The pointer over the stage: clicks and drags of things go to the handlers, the rest turns the camera.
import { orbit, pan, zoom } from './camera';
import type { Stage } from './stage';

export interface PointerHandlers {
  /** A press: true to keep the drag that may follow, false to leave it to the camera. */
  grab(x: number, y: number): boolean;
  drag(x: number, y: number): void;
  drop(): void;
  click(x: number, y: number, keys: { shift: boolean; control: boolean }): void;
  hover(x: number, y: number): void;
}

/** Movements up to this many pixels are a click. */
const slack = 4;

/** Follows until the stage goes. */
export function followPointer(stage: Stage, handlers: PointerHandlers): void {
  const { container } = stage;
  let last: { x: number; y: number; moved: boolean; grabbed: boolean; pan: boolean } | null = null;

  const down = (event: PointerEvent) => {
    if (last !== null) return;
    const { clientX: x, clientY: y } = event;
    container.focus({ preventScroll: true, focusVisible: false } as FocusOptions);
    container.setPointerCapture(event.pointerId);
    const left = event.button === 0;
    const grabbed = left && !event.shiftKey && handlers.grab(x, y);
    last = { x, y, moved: false, grabbed, pan: !left || event.shiftKey };
  };

  const move = (event: PointerEvent) => {
    const { clientX: x, clientY: y } = event;
    if (last === null) {
      handlers.hover(x, y);
      return;
    }
    const [dx, dy] = [x - last.x, y - last.y];
    if (!last.moved && Math.hypot(dx, dy) < slack) return;
    last.moved = true;
    if (last.grabbed) {
      handlers.drag(x, y);
      return;
    }
    const size = stage.paneSize;
    if (last.pan) stage.setCamera(pan(stage.camera, stage.lens, dx / size, -dy / size));
    else stage.setCamera(orbit(stage.camera, (3 * dx) / size, (3 * dy) / size));
    [last.x, last.y] = [x, y];
  };

  const end = (event: PointerEvent) => {
    if (last === null) return;
    const { moved, grabbed } = last;
    last = null;
    if (grabbed) handlers.drop();
    if (!moved && !grabbed && event.type === 'pointerup' && event.button === 0) {
      handlers.click(event.clientX, event.clientY, { shift: event.shiftKey, control: event.ctrlKey || event.metaKey });
    }
  };

  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    stage.setCamera(zoom(stage.camera, Math.exp(-Math.max(-200, Math.min(200, event.deltaY)) / 500)));
  };

  const { signal } = stage.ended;
  container.addEventListener('pointerdown', down, { signal });
  container.addEventListener('pointermove', move, { signal });
  container.addEventListener('pointerup', end, { signal });
  container.addEventListener('pointercancel', end, { signal });
  container.addEventListener('contextmenu', (event) => event.preventDefault(), { signal });
  container.addEventListener('wheel', wheel, { passive: false, signal });
}
