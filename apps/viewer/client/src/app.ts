// The page: its header, its messages, and the mode that shows a data set.
import { type Api, wordsOf } from './api';
import { listen } from './events';
import type { MakeMode, ModeContext, StageMode, Theme } from './stage_mode';
import type { DataSet, FileState, ServerState } from './types';
import { button, h } from './ui/dom';
import { Help } from './ui/help';
import { Notices, wholePage } from './ui/notices';
import { type Graphics, NoWebGl } from './view/graphics';

const dark = window.matchMedia('(prefers-color-scheme: dark)');

function theme(): Theme {
  return dark.matches
    ? { background: [0.086, 0.094, 0.11], plain: [150, 156, 168], ahead: [74, 79, 90] }
    : { background: [0.976, 0.98, 0.984], plain: [198, 204, 212], ahead: [222, 225, 230] };
}

type LoadMode = (data: DataSet, context: ModeContext) => Promise<MakeMode>;

const modes: Record<DataSet['kind'], () => Promise<LoadMode>> = {
  mesh: async () => (await import('./mesh/mesh_mode')).MeshMode.load,
  tensors: async () => (await import('./tensor/tensor_mode')).TensorMode.load,
  volume: async () => (await import('./surface/surface_mode')).SurfaceMode.load,
};

function showNoWebGl(): void {
  wholePage(
    'No WebGL',
    'This browser does not draw with WebGL 2, which isochron view needs. Turn on hardware acceleration or use another browser; isochron solve --picture draws without one.',
  );
}

export class App {
  private readonly notices = new Notices();
  private readonly help = new Help();
  private readonly body = h('div', { class: 'body' });
  private readonly exports = h('select', { 'aria-label': 'Export', class: 'export', change: () => this.export() });
  private mode: StageMode | null = null;
  private current: DataSet | null = null;
  /** What has become of each data set's file. */
  private readonly files = new Map<number, FileState>();
  /** Counts what was opened: an answer for an earlier one comes too late to be shown. */
  private opened = 0;

  constructor(
    private readonly api: Api,
    private state: ServerState,
    private readonly graphics: Promise<Graphics>,
  ) {
    this.takeFiles();
    document.getElementById('app')!.replaceChildren(this.header(), this.notices.element, this.body, this.help.element);
    dark.addEventListener('change', () => this.mode?.setTheme());
    listen(api, {
      connection: (now) => this.connection(now),
      changed: ({ dataset, file }) => {
        this.files.set(dataset, file);
        this.showFileStates();
      },
      reloaded: ({ dataset }) => void this.reloaded(dataset),
      progress: ({ dataset, stage, fraction }) => dataset === this.current?.id && this.mode?.progress(stage, fraction),
      particles: (event) => event.dataset === this.current?.id && this.mode?.particles(event),
    });
    void this.open(state.datasets[0]!);
  }

  private header(): HTMLElement {
    const { datasets } = this.state;
    const change = () => {
      const found = datasets.find((d) => String(d.id) === choose.value);
      if (found !== undefined) void this.open(found);
    };
    const options = datasets.map(({ id, name }) => h('option', { value: id }, name));
    const choose = h('select', { 'aria-label': 'Data set', change }, ...options);
    const load = () => {
      const [chosen] = file.files ?? [];
      if (chosen !== undefined) void chosen.text().then((text) => this.mode?.loadState(text));
      file.value = '';
    };
    const kind = { type: 'file', accept: '.json,application/json', hidden: true };
    const file = h('input', { ...kind, 'aria-label': 'State file', change: load });
    return h(
      'header',
      {},
      h('h1', {}, 'isochron'),
      datasets.length > 1 ? choose : h('span', { class: 'name' }, datasets[0]!.name),
      h('span', { class: 'gap' }),
      button('Save state', 'Sources, settings and camera as a file', () => this.mode?.saveState()),
      button('Load state', 'Read such a file', () => file.click()),
      file,
      button('Picture', 'The view as PNG (s)', () => void this.mode?.savePicture()),
      this.exports,
      button('?', 'Help', () => this.help.toggle()),
    );
  }

  private export(): void {
    if (this.exports.value !== '') void this.mode?.saveData(this.exports.value);
    this.exports.value = '';
  }

  private fillExports(): void {
    const options = (this.mode?.exports() ?? []).map(([name, label]) => h('option', { value: name }, label));
    this.exports.replaceChildren(h('option', { value: '', selected: true }, 'Export …'), ...options);
    this.exports.disabled = options.length === 0;
  }

  /** Null when it could not be shown, or when something else was opened meanwhile. */
  private async open(data: DataSet): Promise<StageMode | null> {
    const turn = ++this.opened;
    this.mode?.dispose();
    this.mode = null;
    this.current = data;
    this.fillExports();
    this.notices.hideAll();
    this.showFileStates();
    document.title = `${data.name} – isochron view`;
    this.body.replaceChildren(h('p', { class: 'loading', role: 'status' }, `Loading ${data.name} …`));
    try {
      const context = {
        api: this.api,
        notices: this.notices,
        help: () => this.help.toggle(),
        exportsChanged: () => this.fillExports(),
        theme,
      };
      const load = await modes[data.kind]();
      const make = await load(data, context);
      const graphics = await this.graphics;
      if (turn !== this.opened) return null;
      this.mode = make(this.body, graphics);
      this.fillExports();
    } catch (error) {
      if (turn !== this.opened) return null;
      if (error instanceof NoWebGl) {
        showNoWebGl();
        return null;
      }
      const text = `${data.name} could not be shown: ${wordsOf(error)}`;
      this.body.replaceChildren(h('p', { class: 'loading', role: 'alert' }, text));
    }
    return this.mode;
  }

  private connection(now: 'lost' | 'back' | 'replaced'): void {
    const down = {
      lost: 'Lost the connection to isochron view; trying again …',
      replaced: 'isochron view was started anew; open the address it has printed.',
    };
    if (now !== 'back') return this.notices.show('connection', 'error', down[now]);
    this.notices.hide('connection');
    this.mode?.refresh();
    void this.lookAgain();
  }

  private takeFiles(): void {
    for (const { id, file } of this.state.datasets) this.files.set(id, file);
  }

  /** Says what has become of a file: of the one that is shown, or else of the first that is not as it was read. */
  private showFileStates(): void {
    const changed = this.state.datasets.filter(({ id }) => this.files.get(id) !== 'as read');
    const data = changed.find(({ id }) => id === this.current?.id) ?? changed[0];
    if (data === undefined) {
      this.notices.hide('changed');
      return;
    }
    const file = this.files.get(data.id);
    if (file === 'written') {
      const reload = { label: 'Reload', run: () => void this.reload(data.id) };
      this.notices.show('changed', 'warning', `${data.name} has changed on disk.`, reload);
    } else {
      const what = file === 'deleted' ? 'was deleted' : 'cannot be read any more';
      this.notices.show('changed', 'warning', `${data.name} ${what}; what was read of it is shown on.`);
    }
  }

  /** Events that were missed while the stream was down. */
  private async lookAgain(): Promise<void> {
    try {
      this.state = await this.api.state();
    } catch {
      return; // the line is down again, which is said already
    }
    this.takeFiles();
    this.showFileStates();
  }

  private async reload(id: number): Promise<void> {
    try {
      await this.api.send(`${id}/reload`, {});
    } catch (error) {
      this.notices.show('changed', 'error', wordsOf(error));
    }
  }

  /** This or another window had the file read again: it is shown anew, with the same choices. */
  private async reloaded(id: number): Promise<void> {
    this.files.set(id, 'as read'); // later events are about what comes after this
    this.showFileStates();
    try {
      this.state = await this.api.state();
    } catch (error) {
      this.notices.show('changed', 'error', wordsOf(error));
      return;
    }
    const data = this.state.datasets.find((d) => d.id === id);
    if (data === undefined || this.current?.id !== id) return;
    const choices = this.mode?.stateText();
    const sameBox = String(this.current.bounds) === String(data.bounds);
    const mode = await this.open(data);
    if (choices !== undefined) mode?.loadState(choices, sameBox ? 'saved' : 'fitted');
  }
}
