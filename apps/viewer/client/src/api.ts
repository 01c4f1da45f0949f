// Requests to the server the page came from.
import { Pack } from './pack';
import type { ServerState } from './types';

/** The server's refusal; `status` 0 means that it did not answer at all. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Numbers of the sources that are not on the mesh, where that is why. */
    readonly offMesh: readonly number[] = [],
  ) {
    super(message);
  }

  /** A newer request took this one's place: no message is needed. */
  get superseded(): boolean {
    return this.status === 409;
  }

  /** No message is shown for it: the event stream reports lost connections. */
  get quiet(): boolean {
    return this.superseded || this.status === 0;
  }
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function randomId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (b) => b.toString(16).padStart(2, '0')).join('');
}

export class Api {
  /** Names this page to the server, so that a newer request of it can replace an older one. */
  readonly client = randomId();
  private sequence = 0;
  private readonly ahead = new Map<string, Promise<ArrayBuffer>>();

  constructor(readonly token: string) {}

  nextSequence(): number {
    return ++this.sequence;
  }

  eventsAddress(): string {
    return `api/events?client=${this.client}&token=${encodeURIComponent(this.token)}`;
  }

  async state(): Promise<ServerState> {
    return (await this.fetch('api/state')).json() as Promise<ServerState>;
  }

  async get(path: string): Promise<Pack> {
    const early = this.ahead.get(path);
    this.ahead.delete(path);
    return Pack.decode(await (early ?? this.bytes(path)));
  }

  /** Asks now for what `get` will be asked for first. */
  readAhead(path: string): void {
    const bytes = this.bytes(path);
    bytes.catch(() => {}); // its receiver handles the failure
    this.ahead.set(path, bytes);
  }

  async post(path: string, body: object): Promise<Pack> {
    return Pack.decode(await (await this.send(path, body)).arrayBuffer());
  }

  /** For questions whose answer is of no interest. */
  async ask(path: string, body: object): Promise<void> {
    await this.send(path, body);
  }

  /** For answers that are files: their bytes and the name the server gives them. */
  async file(path: string, body: object): Promise<{ blob: Blob; name: string }> {
    const answer = await this.send(path, body);
    const name = /filename="?([^";]+)"?/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1];
    return { blob: await answer.blob(), name: name ?? 'arrival' };
  }

  /** Has the server read a file again that changed on disk. */
  reload(dataset: number): Promise<void> {
    return this.ask(`${dataset}/reload`, {});
  }

  private async bytes(path: string): Promise<ArrayBuffer> {
    const answer = await this.fetch(`api/datasets/${path}`);
    try {
      return await answer.arrayBuffer();
    } catch {
      throw new ApiError(0, 'the answer was cut short; reload the page');
    }
  }

  private send(path: string, body: object): Promise<Response> {
    return this.fetch(`api/datasets/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ client: this.client, ...body }),
    });
  }

  private async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    let answer: Response;
    try {
      answer = await fetch(path, { ...init, headers: { ...init.headers, 'X-Isochron-Token': this.token } });
    } catch {
      throw new ApiError(0, 'the server does not answer');
    }
    if (answer.ok) return answer;
    let said: { error?: string; sources?: number[] } = {};
    try {
      said = (await answer.json()) as typeof said;
    } catch {
      // not JSON: the status has to do
    }
    throw new ApiError(answer.status, said.error ?? `the server answered ${answer.status}`, said.sources);
  }
}
