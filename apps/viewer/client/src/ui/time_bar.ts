// The slider of moments and the button that lets the front run.
import { button, h, shortNumber } from './dom';

/** How long the front takes from the first to the last moment. */
const seconds = 5;

export class TimeBar {
  private readonly slider = h('input', {
    type: 'range',
    min: 0,
    max: 1,
    step: 'any',
    'aria-label': 'Moment of the front',
  });
  private readonly readout = h('output', { class: 'moment' });
  private readonly play = button('▶', 'Let the front run (space)', () => this.toggle());
  private readonly all = button('All', 'Show all times (Escape)', () => this.set(null));
  readonly element = h('div', { class: 'time-bar' }, this.play, this.slider, this.readout, this.all);
  private low = 0;
  private high = 0;
  private moment: number | null = null;
  private unit = '';
  private playing = false;

  constructor(private readonly onMoment: (moment: number | null) => void) {
    this.play.setAttribute('aria-label', 'Let the front run');
    this.slider.addEventListener('input', () => {
      const moment = Number(this.slider.value); // stopping puts the slider back
      this.stop();
      this.set(moment);
    });
    this.show();
  }

  setRange(low: number, high: number, unit: string): void {
    [this.low, this.high, this.unit] = [low, high, unit];
    this.slider.min = String(low);
    this.slider.max = String(high);
    this.show();
  }

  /** Null for all times. */
  set(moment: number | null, notify = true): void {
    if (moment === null) this.stop();
    this.moment = moment === null ? null : Math.min(Math.max(moment, this.low), this.high);
    this.show();
    if (notify) this.onMoment(this.moment);
  }

  step(direction: number): void {
    this.stop();
    const from = this.moment ?? (direction > 0 ? this.low : this.high);
    this.set(from + (direction * (this.high - this.low)) / 50);
  }

  toggle(): void {
    if (this.playing) {
      this.stop();
      return;
    }
    if (!(this.high > this.low)) return;
    this.playing = true;
    this.show();
    let at = this.moment === null || this.moment >= this.high ? this.low : this.moment;
    let before = performance.now();
    const frame = (now: number) => {
      if (!this.playing) return;
      at += ((now - before) / 1000 / seconds) * (this.high - this.low);
      before = now;
      if (at >= this.high) {
        this.stop();
        this.set(this.high);
        return;
      }
      this.set(at);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  stop(): void {
    this.playing = false;
    this.show();
  }

  private show(): void {
    const empty = !(this.high > this.low);
    this.slider.disabled = empty;
    this.play.disabled = empty;
    this.all.disabled = empty || this.moment === null;
    this.play.textContent = this.playing ? '❚❚' : '▶';
    this.slider.value = String(this.moment ?? this.high);
    const text = this.moment === null ? 'all times' : `${shortNumber(this.moment)} ${this.unit}`.trim();
    this.readout.textContent = empty ? '' : text;
    this.slider.setAttribute('aria-valuetext', text);
  }
}
