// The server's stream of events, with a watch on the connection.
import { type Api, ApiError } from './api';
import type { FileState } from './types';

export interface EventHandlers {
  /** The line went down ("lost"), came back ("back"), or the server is another one now ("replaced"). */
  connection(state: 'lost' | 'back' | 'replaced'): void;
  /** What has become of a file on disk. */
  changed(dataset: number, file: FileState): void;
  /** The server has read a file again. */
  reloaded(dataset: number): void;
  progress(dataset: number, stage: string, fraction: number): void;
  particles(dataset: number, event: ParticlesEvent): void;
}

/** How far the particles of a surface are. */
export interface ParticlesEvent {
  iteration: number;
  count: number;
  energy: number;
}

interface EventData extends Partial<ParticlesEvent> {
  dataset: number;
  file?: FileState;
  stage?: string;
  fraction?: number;
}

const retryAfter = 1500;

/** Listens until the page goes; reconnects by itself and says so. */
export function listen(api: Api, handlers: EventHandlers): void {
  let lost = false;

  const open = () => {
    const stream = new EventSource(api.eventsAddress());
    stream.onopen = () => {
      if (lost) handlers.connection('back');
      lost = false;
    };
    const on = (name: string, handle: (data: EventData) => void) =>
      stream.addEventListener(name, (event) => handle(JSON.parse((event as MessageEvent<string>).data) as EventData));
    on('changed', ({ dataset, file = 'written' }) => handlers.changed(dataset, file));
    on('reloaded', ({ dataset }) => handlers.reloaded(dataset));
    on('progress', ({ dataset, stage = '', fraction = 0 }) => handlers.progress(dataset, stage, fraction));
    on('particles', ({ dataset, iteration = 0, count = 0, energy = 0 }) =>
      handlers.particles(dataset, { iteration, count, energy }),
    );
    stream.onerror = () => {
      stream.close();
      if (!lost) handlers.connection('lost');
      lost = true;
      window.setTimeout(() => void retry(), retryAfter);
    };
  };

  // A server that was started anew has another token and refuses ours: then there is no point in trying on.
  const retry = async () => {
    try {
      await api.state();
    } catch (error) {
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        handlers.connection('replaced');
        return;
      }
      window.setTimeout(() => void retry(), retryAfter);
      return;
    }
    open();
  };

  open();
}
