// What the page has to say: lines at the top that stay, and one that goes by itself.
import { button, crossButton, h } from './dom';

export type NoticeKind = 'info' | 'warning' | 'error';

interface Action {
  label: string;
  run: () => void;
}

/** Notices by name: a second one of the same name takes the first one's place. */
export class Notices {
  readonly element = h('div', { class: 'notices', role: 'status', 'aria-live': 'polite' });
  private readonly shown = new Map<string, HTMLElement>();

  show(name: string, kind: NoticeKind, text: string, action?: Action): void {
    this.hide(name);
    const notice = h('div', { class: `notice ${kind}`, 'data-name': name }, h('span', {}, text));
    if (action !== undefined) notice.append(button(action.label, action.label, action.run));
    notice.append(crossButton('Close this message', () => this.hide(name)));
    this.shown.set(name, notice);
    this.element.append(notice);
  }

  /** Shows the lines as one notice, and none where there are none. */
  list(name: string, kind: NoticeKind, lines: readonly string[]): void {
    const text = lines.join(' · ');
    if (this.shown.get(name)?.querySelector('span')?.textContent === text) return;
    if (text === '') this.hide(name);
    else this.show(name, kind, text);
  }

  hide(name: string): void {
    this.shown.get(name)?.remove();
    this.shown.delete(name);
  }

  hideAll(): void {
    for (const name of [...this.shown.keys()]) this.hide(name);
  }
}

/** Fills the page with one message, when there is nothing else to show. */
export function wholePage(title: string, text: string): void {
  const root = document.getElementById('app')!;
  root.replaceChildren(h('div', { class: 'whole-page', role: 'alert' }, h('h1', {}, title), h('p', {}, text)));
}
