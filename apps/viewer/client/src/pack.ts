// The packed answer of the server: "ISO1", the length of a JSON header, the header, then plain little-endian arrays.

export type PackArray = Float32Array | Uint32Array | Uint8Array;

interface ArrayEntry {
  dtype: 'float32' | 'uint32' | 'uint8';
  shape: number[];
  offset: number;
  units?: string;
}

const kinds = { float32: Float32Array, uint32: Uint32Array, uint8: Uint8Array };

/** One decoded answer. The arrays are views of the received bytes; nothing is copied. */
export class Pack {
  private constructor(
    readonly meta: Record<string, unknown>,
    private readonly entries: Record<string, ArrayEntry>,
    private readonly arrays: Map<string, PackArray>,
  ) {}

  /** Throws an Error that says what is wrong when the bytes are no pack. */
  static decode(bytes: ArrayBuffer): Pack {
    const view = new DataView(bytes);
    if (bytes.byteLength < 8 || view.getUint32(0, true) !== 0x314f5349) throw new Error('the answer is no pack');
    const start = 8 + view.getUint32(4, true);
    if (start > bytes.byteLength || start % 8 !== 0) throw new Error('the header of the pack is cut short');
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, start - 8))) as {
      meta?: Record<string, unknown>;
      arrays?: Record<string, ArrayEntry>;
    };
    const entries = header.arrays ?? {};
    const arrays = new Map<string, PackArray>();
    for (const [name, entry] of Object.entries(entries)) {
      const Kind = kinds[entry.dtype];
      if (Kind === undefined) throw new Error(`array ${name} has the unknown type ${entry.dtype}`);
      const count = entry.shape.reduce((product, n) => product * n, 1);
      const from = start + entry.offset;
      if (from % Kind.BYTES_PER_ELEMENT !== 0 || from + count * Kind.BYTES_PER_ELEMENT > bytes.byteLength) {
        throw new Error(`array ${name} of the pack is cut short`);
      }
      arrays.set(name, new Kind(bytes, from, count));
    }
    return new Pack(header.meta ?? {}, entries, arrays);
  }

  has(name: string): boolean {
    return this.arrays.has(name);
  }

  floats(name: string): Float32Array {
    return this.typed(name, Float32Array);
  }

  ids(name: string): Uint32Array {
    return this.typed(name, Uint32Array);
  }

  bytes(name: string): Uint8Array {
    return this.typed(name, Uint8Array);
  }

  shape(name: string): number[] {
    return this.entries[name]?.shape ?? [];
  }

  units(name: string): string {
    return this.entries[name]?.units ?? '';
  }

  /** A number of the meta data; `otherwise` when it is absent (or null: not finite). */
  number(name: string, otherwise = Number.NaN): number {
    const value = this.meta[name];
    return typeof value === 'number' ? value : otherwise;
  }

  /** What the server has to say about the answer. */
  get notes(): string[] {
    const notes = this.meta['notes'];
    return Array.isArray(notes) ? (notes as string[]) : [];
  }

  private typed<T extends PackArray>(name: string, Kind: abstract new (...a: never[]) => T): T {
    const array = this.arrays.get(name);
    if (!(array instanceof Kind)) throw new Error(`the answer has no array ${name} of the expected type`);
    return array;
  }
}
