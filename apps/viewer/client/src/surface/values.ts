// From the histogram of a volume: where to begin, and which values the slices show.
import type { Pack } from '../pack';

export function readHistogram(pack: Pack) {
  // Without a finite value there is no range.
  return { counts: pack.ids('counts'), low: pack.number('low', 0), high: pack.number('high', 0) };
}

export type Histogram = ReturnType<typeof readHistogram>;

/** The value between bins k and k + 1. */
const edgeAfter = ({ counts, low, high }: Histogram, k: number) => low + ((k + 1) / counts.length) * (high - low);

/**
 * The value that parts the voxels best into two kinds (N. Otsu, 1979): with the largest variance between them. Where
 * several do equally well, as in the gap between two peaks, the middle one.
 */
export function partingValue(histogram: Histogram): number {
  const { counts } = histogram;
  let [all, total] = [0, 0];
  counts.forEach((count, k) => {
    all += count;
    total += count * k;
  });
  const between: number[] = [];
  let [below, sum] = [0, 0];
  for (let k = 0; k + 1 < counts.length; ++k) {
    below += counts[k]!;
    sum += counts[k]! * k;
    const above = all - below;
    const difference = below > 0 && above > 0 ? sum / below - (total - sum) / above : 0;
    between.push(below * above * difference * difference);
  }
  const best = between.reduce((most, one) => Math.max(most, one), 0);
  const good = between.flatMap((one, k) => (one >= (1 - 1e-3) * best ? [k] : []));
  const middle = good[Math.floor(good.length / 2)] ?? 0;
  return Number(edgeAfter(histogram, middle).toPrecision(4));
}

/** The range of all values but the lowest and the highest thousandth, for slices in grey. */
export function greyRange(histogram: Histogram): [number, number] {
  const { counts, low, high } = histogram;
  const few = counts.reduce((sum, count) => sum + count, 0) / 1000;
  let [first, last] = [0, counts.length - 1];
  for (let sum = counts[first]!; sum <= few && first < last; sum += counts[first]!) ++first;
  for (let sum = counts[last]!; sum <= few && first < last; sum += counts[last]!) --last;
  return first < last ? [first === 0 ? low : edgeAfter(histogram, first - 1), edgeAfter(histogram, last)] : [low, high];
}
