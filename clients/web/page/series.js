const LONE = 20; // times as long as those beside it: a gap in otherwise steady samples

/** Samples of all curves over time, the newest `capacity` of them. */
export class Series {
  /**
   * @param {number} width values per sample
   * @param {number} [capacity]
   */
  constructor(width, capacity = 30000) {
    this.width = width;
    this.capacity = capacity;
    this.start = 0;
    this.count = 0;
    this.times = new Float64Array(capacity);
    this.values = new Float64Array(capacity * width);
    /** 1: the values between the previous sample and this one are unknown */
    this.parted = new Uint8Array(capacity);
  }

  /** @param {number} i from the oldest */
  slot(i) {
    return (this.start + i) % this.capacity;
  }

  /** @param {number} i */
  time(i) {
    return this.times[this.slot(i)];
  }

  /** @param {number} i @param {number} k */
  value(i, k) {
    return this.values[this.slot(i) * this.width + k];
  }

  get last() {
    return this.count > 0 ? this.time(this.count - 1) : NaN;
  }

  /**
   * Time that goes back (a reset, a restore) removes the later samples; the same time replaces.
   * @param {number} time
   * @param {ArrayLike<number>} values [width]
   */
  add(time, values) {
    while (this.count > 0 && this.last >= time) {
      this.count--;
    }
    if (this.count === this.capacity) {
      this.start = this.slot(1);
      this.count--;
    }
    const slot = this.slot(this.count++);
    this.times[slot] = time;
    this.parted[slot] = 0;
    this.values.set(values, slot * this.width);
  }

  /** Time since the sample before; 0 where there is none. @param {number} i */
  distance(i) {
    return i > 0 && i < this.count ? this.time(i) - this.time(i - 1) : 0;
  }

  /** No line leads to this sample. @param {number} i */
  part(i) {
    this.parted[this.slot(i)] = 1;
  }

  /** Is the curve broken before this sample? @param {number} i */
  gap(i) {
    const beside = Math.max(this.distance(i - 1), this.distance(i + 1));
    return (
      i > 0 &&
      (this.parted[this.slot(i)] === 1 || (beside > 0 && this.distance(i) > LONE * beside))
    );
  }

  /**
   * Index of the first sample at or after a time.
   * @param {number} time
   */
  from(time) {
    let low = 0,
      high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) < time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * Index of the sample nearest to a time, or -1.
   * @param {number} time
   */
  near(time) {
    const i = this.from(time);
    if (i > 0 && (i === this.count || time - this.time(i - 1) < this.time(i) - time)) {
      return i - 1;
    }
    return i < this.count ? i : -1;
  }
}
