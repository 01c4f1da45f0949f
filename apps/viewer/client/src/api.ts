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

  /** For answers that are files: their bytes and the name the server gives them. */
  async file(path: string, body: object): Promise<{ blob: Blob; name: string }> {
    const answer = await this.send(path, body);
    const name = /filename="?([^";]+)"?/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1];
    return { blob: await answer.blob(), name: name ?? 'arrival' };
  }

  private async bytes(path: string): Promise<ArrayBuffer> {
    const answer = await this.fetch(`api/datasets/${path}`);
    return answer.arrayBuffer().catch(() => {
      throw new ApiError(0, 'the answer was cut short; reload the page');
    });
  }

  /** The plain answer, which may be of no interest. */
  send(path: string, body: object): Promise<Response> {
    return this.fetch(`api/datasets/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ client: this.client, ...body }),
    });
  }

  private async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...init.headers, 'X-Isochron-Token': this.token };
    const answer = await fetch(path, { ...init, headers }).catch(() => {
      throw new ApiError(0, 'the server does not answer');
    });
    if (answer.ok) return answer;
    // Where it is not JSON the status has to do.
    const said = (await answer.json().catch(() => ({}))) as { error?: string; sources?: number[] };
    throw new ApiError(answer.status, said.error ?? `the server answered ${answer.status}`, said.sources);
  }
}
