// Opens the page: asks at once what the browser can draw and what there is to show, and has the first data set read while
// the rest of the program loads.
import { Api, ApiError, wordsOf } from './api';
import type { DataSet } from './types';
import { wholePage } from './ui/notices';
import { findGraphics } from './view/graphics';

/** What each mode asks for before it can show anything. */
const firstQuestions: Record<DataSet['kind'], readonly string[]> = {
  mesh: ['geometry'],
  tensors: ['volume/fa', 'volume/direction'],
  volume: ['histogram', 'volume/values'],
};

function showError(error: unknown): void {
  if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
    wholePage(
      'Wrong token',
      'The token of this page is not the one of this server. Open the address that isochron view has printed.',
    );
    return;
  }
  wholePage('No answer', `${wordsOf(error)}. Is isochron view still running?`);
}

/** The token of the address, which it is taken out of: addresses are shown, kept and passed on. Reloads find it again. */
function takeToken(): string {
  const { pathname, search, hash } = window.location;
  const given = new URLSearchParams(search).get('token');
  try {
    if (given === null) return sessionStorage.getItem('token') ?? '';
    sessionStorage.setItem('token', given);
    history.replaceState(null, '', pathname + hash);
  } catch {
    // A browser that stores nothing keeps it in the address.
  }
  return given ?? '';
}

async function start(): Promise<void> {
  const token = takeToken();
  if (token === '') {
    wholePage('No token', 'Open the address that isochron view has printed, with its token.');
    return;
  }
  const graphics = findGraphics();
  const program = import('./app');
  const api = new Api(token);
  try {
    const state = await api.state();
    const [first] = state.datasets;
    if (first === undefined) {
      wholePage('Nothing open', 'Name a file: isochron view FILE');
      return;
    }
    for (const question of firstQuestions[first.kind]) api.readAhead(`${first.id}/${question}`);
    const { App } = await program;
    new App(api, state, graphics);
  } catch (error) {
    showError(error);
  }
}

void start();
