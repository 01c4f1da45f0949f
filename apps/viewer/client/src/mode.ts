// What the page asks of whatever it shows.
import type { Api } from './api';
import type { Color } from './color_map';
import type { ParticlesEvent } from './events';
import type { DataSet, Vec3 } from './types';
import type { Notices } from './ui/notices';
import type { Graphics } from './view/graphics';

/** What each mode asks for before it can show anything. */
export const firstQuestions: Record<DataSet['kind'], readonly string[]> = {
  mesh: ['geometry'],
  tensors: ['volume/fa', 'volume/direction'],
  volume: ['histogram', 'volume/values'],
};

export interface Theme {
  background: Vec3;
  plain: Color;
  ahead: Color;
}

/** What a mode is given. */
export interface ModeContext {
  api: Api;
  notices: Notices;
  help: () => void;
  /** What can be exported has changed. */
  exportsChanged: () => void;
  theme: () => Theme;
}

export interface Mode {
  dispose(): void;
  /** Asks for everything again, after the connection was lost. */
  refresh(): void;
  progress(stage: string, fraction: number): void;
  /** A surface is being made: where its particles are can be asked for. */
  particles?(event: ParticlesEvent): void;
  setTheme(): void;
  savePicture(): Promise<void>;
  /** Names of exports and what the menu calls them. */
  exports(): [name: string, label: string][];
  saveData(name: string): Promise<void>;
  saveState(): void;
  stateText(): string;
  /** With the camera of the state, or with all of the data in view. */
  loadState(text: string, camera?: 'saved' | 'fitted'): void;
}

/** Shows in an element what a mode has loaded. */
export type MakeMode = (root: HTMLElement, graphics: Graphics) => Mode;
