// Opens the page: checks what it needs, asks the server what there is, and shows the first data set.
import { Api, ApiError } from './api';
import { listen } from './events';
import { MeshMode } from './mesh/mesh_mode';
import type { MakeMode, Mode, ModeContext, Theme } from './mode';
import { SurfaceMode } from './surface/surface_mode';
import { TensorMode } from './tensor/tensor_mode';
import type { DataSet, ServerState } from './types';
import { button, h } from './ui/dom';
import { Help } from './ui/help';
import { Notices, wholePage } from './ui/notices';
import { hasWebGl } from './view/stage';

const dark = window.matchMedia('(prefers-color-scheme: dark)');

function theme(): Theme {
  return dark.matches
    ? { background: [0.086, 0.094, 0.11], plain: [150, 156, 168], ahead: [74, 79, 90] }
    : { background: [0.976, 0.98, 0.984], plain: [198, 204, 212], ahead: [222, 225, 230] };
}

const modes: Record<DataSet['kind'], (data: DataSet, context: ModeContext) => Promise<MakeMode>> = {
  mesh: MeshMode.load,
  tensors: TensorMode.load,
  volume: SurfaceMode.load,
};

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

class App {
  private readonly notices = new Notices();
  private readonly help = new Help();
  private readonly body = h('div', { class: 'body' });
  private readonly exports = h('select', { 'aria-label': 'Export', class: 'export' });
  private mode: Mode | null = null;
  private current: DataSet | null = null;
  /** Counts what was opened: an answer for an earlier one comes too late to be shown. */
  private opened = 0;

  constructor(
    private readonly api: Api,
    private state: ServerState,
  ) {
    document.getElementById('app')!.replaceChildren(this.header(), this.notices.element, this.body, this.help.element);
    dark.addEventListener('change', () => this.mode?.setTheme());
    listen(api, {
      connection: (now) => this.connection(now),
      changed: (id) => this.changed(id),
      reloaded: (id) => void this.reloaded(id),
      progress: (id, stage, fraction) => id === this.current?.id && this.mode?.progress(stage, fraction),
      particles: (id, told) => id === this.current?.id && this.mode?.particles?.(told),
    });
    void this.open(state.datasets[0]!);
  }

  private header(): HTMLElement {
    const choose = h('select', { 'aria-label': 'Data set' });
    for (const { id, name } of this.state.datasets) choose.append(h('option', { value: id }, name));
    choose.addEventListener('change', () => {
      const found = this.state.datasets.find((d) => String(d.id) === choose.value);
      if (found !== undefined) void this.open(found);
    });
    const name = this.state.datasets.length > 1 ? choose : h('span', { class: 'name' }, this.state.datasets[0]!.name);
    const file = h('input', {
      type: 'file',
      accept: '.json,application/json',
      hidden: true,
      'aria-label': 'State file',
    });
    file.addEventListener('change', () => {
      const [chosen] = file.files ?? [];
      if (chosen !== undefined) void chosen.text().then((text) => this.mode?.loadState(text));
      file.value = '';
    });
    return h(
      'header',
      {},
      h('h1', {}, 'isochron'),
      name,
      h('span', { class: 'gap' }),
      button('Save state', 'Sources, settings and camera as a file', () => this.mode?.saveState()),
      button('Load state', 'Read such a file', () => file.click()),
      file,
      button('Picture', 'The view as PNG (s)', () => void this.mode?.savePicture()),
      this.exportMenu(),
      button('?', 'Help', () => this.help.toggle()),
    );
  }

  private exportMenu(): HTMLElement {
    const menu = this.exports;
    menu.addEventListener('change', () => {
      if (menu.value !== '') void this.mode?.saveData(menu.value);
      menu.value = '';
    });
    return menu;
  }

  private fillExports(): void {
    const options = (this.mode?.exports() ?? []).map(([name, label]) => h('option', { value: name }, label));
    this.exports.replaceChildren(h('option', { value: '', selected: true }, 'Export …'), ...options);
    this.exports.disabled = options.length === 0;
  }

  /** Null when it could not be shown, or when something else was opened meanwhile. */
  private async open(data: DataSet): Promise<Mode | null> {
    const turn = ++this.opened;
    this.mode?.dispose();
    this.mode = null;
    this.current = data;
    this.fillExports();
    this.notices.hideAll();
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
      const make = await modes[data.kind](data, context);
      if (turn !== this.opened) return null;
      this.mode = make(this.body);
      this.fillExports();
    } catch (error) {
      if (turn !== this.opened) return null;
      const text = `${data.name} could not be shown: ${wordsOf(error)}`;
      this.body.replaceChildren(h('p', { class: 'loading', role: 'alert' }, text));
    }
    return this.mode;
  }

  private connection(now: 'lost' | 'back' | 'replaced'): void {
    if (now === 'back') {
      this.notices.hide('connection');
      this.mode?.refresh();
    } else if (now === 'lost') {
      this.notices.show('connection', 'error', 'Lost the connection to isochron view; trying again …');
    } else {
      this.notices.show('connection', 'error', 'isochron view was started anew; open the address it has printed.');
    }
  }

  private changed(id: number): void {
    const data = this.state.datasets.find((d) => d.id === id);
    if (data === undefined) return;
    this.notices.show('changed', 'warning', `${data.name} has changed on disk.`, {
      label: 'Reload',
      run: () => void this.reload(id),
    });
  }

  private async reload(id: number): Promise<void> {
    try {
      await this.api.reload(id);
    } catch (error) {
      this.notices.show('changed', 'error', wordsOf(error));
    }
  }

  /** This or another window had the file read again: it is shown anew, with the same choices. */
  private async reloaded(id: number): Promise<void> {
    try {
      this.state = await this.api.state();
    } catch (error) {
      this.notices.show('changed', 'error', wordsOf(error));
      return;
    }
    const data = this.state.datasets.find((d) => d.id === id);
    if (data === undefined || this.current?.id !== id) return;
    const choices = this.mode?.stateText();
    const mode = await this.open(data);
    if (choices !== undefined) mode?.loadState(choices);
  }
}

async function start(): Promise<void> {
  const token = new URLSearchParams(window.location.search).get('token') ?? '';
  if (token === '') {
    wholePage('No token', 'Open the address that isochron view has printed, with its token.');
    return;
  }
  if (!hasWebGl()) {
    wholePage(
      'No WebGL',
      'This browser does not draw with WebGL 2, which isochron view needs. Turn on hardware acceleration or use another browser; isochron solve --picture draws without one.',
    );
    return;
  }
  const api = new Api(token);
  try {
    const state = await api.state();
    if (state.datasets.length === 0) wholePage('Nothing open', 'Name a file: isochron view FILE');
    else new App(api, state);
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
      wholePage(
        'Wrong token',
        'The token in the address is not the one of this server. Open the address that isochron view has printed.',
      );
    } else {
      wholePage(
        'No answer',
        `${wordsOf(error)}. Is isochron view still running?`,
      );
    }
  }
}

void start();
