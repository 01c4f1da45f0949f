// What this browser draws with. A worker looks: in a browser that has just started the first context takes a second or more,
// in which the page reads its data, and the page's own context then takes no time.

export interface Graphics {
  /** The processor draws, not a graphics card. */
  software: boolean;
}

/** The browser has no context of WebGL 2 to give. */
export class NoWebGl extends Error {
  constructor() {
    super('there is no WebGL 2');
  }
}

export function findGraphics(): Promise<Graphics> {
  const unknown = { software: false };
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./graphics_worker.ts', import.meta.url), { type: 'module' });
    const report = (found: Graphics) => {
      worker.terminate();
      resolve(found);
    };
    worker.onmessage = ({ data }: MessageEvent<Graphics | null>) => report(data ?? unknown);
    worker.onerror = () => report(unknown);
  });
}
