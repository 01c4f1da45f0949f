// One request in flight, and the latest state next.

/**
 * Names of things that are out of date, renewed one after the other. A thing that is wanted again while it waits is
 * renewed once, from whatever the state is by then; wanted while it is under way, it is renewed again afterwards.
 */
export class Refresh<Name> {
  private readonly due = new Set<Name>();
  private running = false;

  /** `renew` reads the state when it starts; it must not throw. Nothing is renewed any more once `ended` is aborted. */
  constructor(
    private readonly renew: (name: Name) => Promise<void>,
    private readonly ended: AbortSignal,
  ) {}

  get busy(): boolean {
    return this.running;
  }

  want(...names: Name[]): void {
    for (const name of names) this.due.add(name);
    if (!this.running) void this.run();
  }

  private async run(): Promise<void> {
    this.running = true;
    for (const name of this.due) {
      // A set hands out what is added during the loop, in the order it came.
      this.due.delete(name);
      if (!this.ended.aborted) await this.renew(name);
    }
    this.running = false;
  }
}
