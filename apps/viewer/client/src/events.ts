// The server's stream of events, with a watch on the connection.
import { type Api, ApiError } from './api';
import type { FileState } from './types';

/** What the server says; which fields count depends on the event. */
export interface ServerEvent {
  dataset: number;
  /** What has become of a file on disk. */
  file: FileState;
  /** How far work is. */
  stage: string;
  fraction: number;
  /** How far the particles of a surface are. */
  iteration: number;
  count: number;
  energy: number;
}

const usual = { file: 'written', stage: '', fraction: 0, iteration: 0, count: 0, energy: 0 };
const names = ['changed', 'reloaded', 'progress', 'particles'] as const;

export interface EventHandlers extends Record<(typeof names)[number], (event: ServerEvent) => void> {
  /** The line went down ("lost"), came back ("back"), or the server is another one now ("replaced"). */
  connection(state: 'lost' | 'back' | 'replaced'): void;
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
    for (const name of names) {
      stream.addEventListener(name, ({ data }: MessageEvent<string>) =>
        handlers[name]({ ...usual, ...(JSON.parse(data) as Partial<ServerEvent>) } as ServerEvent),
      );
    }
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
