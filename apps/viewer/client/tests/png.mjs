// Reads the PNG files that browsers write: 8 bits per channel, RGB or RGBA, not interlaced.
import { inflateSync } from 'node:zlib';

export function readPng(bytes) {
  let at = 8;
  let header;
  const parts = [];
  while (at < bytes.length) {
    const length = bytes.readUInt32BE(at);
    const kind = bytes.toString('latin1', at + 4, at + 8);
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (kind === 'IHDR') header = body;
    if (kind === 'IDAT') parts.push(body);
    at += length + 12;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = { 2: 3, 6: 4 }[header[9]];
  if (header[8] !== 8 || channels === undefined || header[12] !== 0) throw new Error('a kind of PNG that is not read');
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const data = new Uint8Array(height * stride);
  for (let y = 0; y < height; ++y) unfilter(raw, data, y, stride, channels);
  return { width, height, channels, data };
}

function unfilter(raw, data, y, stride, channels) {
  const from = y * (stride + 1);
  const kind = raw[from];
  for (let x = 0; x < stride; ++x) {
    const left = x >= channels ? data[y * stride + x - channels] : 0;
    const up = y > 0 ? data[(y - 1) * stride + x] : 0;
    const corner = x >= channels && y > 0 ? data[(y - 1) * stride + x - channels] : 0;
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind];
    data[y * stride + x] = raw[from + 1 + x] + guess;
  }
}

function paeth(a, b, c) {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/** The share of pixels for which `test(r, g, b)` holds. */
export function share({ width, height, channels, data }, test) {
  let count = 0;
  for (let i = 0; i < data.length; i += channels) if (test(data[i], data[i + 1], data[i + 2])) ++count;
  return count / (width * height);
}

/** The share of pixels that clearly differ. */
export function changed(a, b) {
  let count = 0;
  for (let i = 0; i < a.data.length; i += a.channels) {
    const far = Math.max(...[0, 1, 2].map((k) => Math.abs(a.data[i + k] - b.data[i + k])));
    if (far > 40) ++count;
  }
  return count / (a.width * a.height);
}

export function colorCount({ channels, data }) {
  const found = new Set();
  for (let i = 0; i < data.length; i += channels) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
  return found.size;
}
