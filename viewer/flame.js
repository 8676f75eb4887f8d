// SPDX-License-Identifier: MIT
//
// The flame graph on its canvas. The canvas is as large as the part of the pane that is seen, never as
// the graph, and stays in place while the pane scrolls: so depth costs nothing. Invariants: `boxes`
// is the layout of `view`; what hit() finds and frames() tells is what the last paint() drew. The rings
// around the frame under the pointer and the one with the focus are elements: moving them paints nothing.

const DURATION = 180;
const LEAST_TEXT = 26;
const LONGEST_LABEL = 300;

class FlameGraph {
  constructor(frames) {
    this.scroller = byId('scroll');
    this.canvas = byId('canvas');
    this.spacer = byId('spacer');
    this.context = this.canvas.getContext('2d');
    this.frames = frames;
    this.tints = frameTints(frames);
    this.labels = new Array(frames.count);
    this.widths = new Float32Array(frames.count);
    this.tree = null;
    this.matches = null;
    this.flipped = false;
    this.hover = -1;
    this.onview = () => {};
    this.scroller.addEventListener('scroll', () => this.paint());
    new ResizeObserver(() => this.resize()).observe(this.scroller);
    window.addEventListener('resize', () => this.resize());
  }

  setTree(tree) {
    cancelAnimationFrame(this.running);
    this.tree = tree;
    this.boxes = newBoxes(tree.count);
    this.zoom = this.focus = ROOT;
    this.hover = -1;
    this.view = { from: 0, to: tree.total[ROOT] };
    this.rows = this.leastRows = 0;
    this.width = 0;
    this.resize();
    this.rootScroll = 0;
  }

  label(node) {
    const frame = this.tree.frame[node];
    if (frame === NO_FRAME) {
      return 'all';
    }
    if (this.labels[frame] === undefined) {
      this.labels[frame] = shown(this.frames.label[frame]).slice(0, LONGEST_LABEL);
    }
    return this.labels[frame];
  }

  // ---- where things are -----------------------------------------------------------------------

  get contentHeight() {
    return Math.max(this.rows * this.rowHeight, this.height);
  }

  // How far the pane is scrolled away from the root's side.
  get rootScroll() {
    const top = this.scroller.scrollTop;
    return this.flipped ? this.contentHeight - this.height - top : top;
  }

  set rootScroll(value) {
    this.scroller.scrollTop = this.flipped ? this.contentHeight - this.height - value : value;
  }

  // The upper edge of a row on the canvas.
  top(row) {
    const y = this.flipped ? this.contentHeight - (row + 1) * this.rowHeight : row * this.rowHeight;
    return y - this.scroller.scrollTop;
  }

  // The node at a place on the canvas, or -1.
  hit(x, y) {
    const below = this.flipped ? this.contentHeight - y - this.scroller.scrollTop : y + this.scroller.scrollTop;
    const box = boxAt(this.boxes, Math.floor(below / this.rowHeight), x);
    return box < 0 ? -1 : this.boxes.node[box];
  }

  // The rectangle of a node on the canvas, or null when it is not in the layout.
  rectangle(node) {
    const box = boxOf(this.boxes, this.tree, node);
    if (box < 0) {
      return null;
    }
    return {
      x: this.boxes.left[box],
      y: this.top(this.tree.depth[node]),
      width: this.boxes.right[box] - this.boxes.left[box],
      height: this.rowHeight - 1,
    };
  }

  // The rows that are seen, at least in part.
  seenRows() {
    const first = Math.max(Math.floor(this.rootScroll / this.rowHeight), 0);
    const last = Math.ceil((this.rootScroll + this.height) / this.rowHeight);
    return [first, Math.min(last, rowCount(this.boxes))];
  }

  drawn() {
    const [first, last] = this.seenRows();
    const found = [];
    for (let box = this.boxes.rows[first]; box < this.boxes.rows[last]; box++) {
      const node = this.boxes.node[box];
      found.push({
        node,
        label: node === ROOT ? 'all' : this.frames.label[this.tree.frame[node]],
        x: this.boxes.left[box],
        y: this.top(this.tree.depth[node]),
        width: this.boxes.right[box] - this.boxes.left[box],
        height: this.rowHeight - 1,
        samples: this.tree.total[node],
        matched: this.isMatch(node),
      });
    }
    return found;
  }

  // ---- drawing --------------------------------------------------------------------------------

  // Takes the size of the pane, if it is another than before.
  resize() {
    const { clientWidth, clientHeight } = this.scroller;
    const ratio = window.devicePixelRatio || 1;
    if (!this.tree || !clientWidth ||
      (clientWidth === this.width && clientHeight === this.height && ratio === this.ratio)) {
      return;
    }
    this.width = clientWidth;
    this.height = clientHeight;
    this.ratio = ratio;
    this.rowHeight = matchMedia('(pointer: coarse)').matches ? 26 : 19;
    this.sizeCanvas();
    this.show(this.view);
  }

  sizeCanvas() {
    this.canvas.style.height = this.height + 'px';
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    const font = getComputedStyle(this.canvas).font;
    if (font !== this.font) {
      this.font = font;
      this.widths.fill(0);
    }
  }

  show(view) {
    this.view = view;
    layOut(this.boxes, this.tree, view, this.width);
    this.setRows(Math.max(this.leastRows, rowCount(this.boxes)));
    this.paint();
  }

  setRows(rows) {
    if (rows === this.rows && this.spacedHeight === this.height) {
      return;
    }
    const scrolled = this.rows ? this.rootScroll : 0;
    this.rows = rows;
    this.spacedHeight = this.height;
    this.spacer.style.height = this.contentHeight - this.height + 'px';
    this.rootScroll = scrolled;
  }

  setPalette(palette) {
    this.palette = palette;
    this.paint();
  }

  paint() {
    if (!this.tree || !this.palette || !this.width) {
      return;
    }
    const context = this.context;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = this.font;
    context.direction = 'ltr';
    context.textBaseline = 'middle';
    const [first, last] = this.seenRows();
    for (let row = first; row < last; row++) {
      this.paintRow(row);
    }
    this.placeRings();
  }

  paintRow(row) {
    const y = Math.round(this.top(row) * this.ratio) / this.ratio;
    for (let box = this.boxes.rows[row]; box < this.boxes.rows[row + 1]; box++) {
      this.fillBox(box, y);
    }
    this.context.globalAlpha = 1;
    for (let box = this.boxes.rows[row]; box < this.boxes.rows[row + 1]; box++) {
      if (this.boxes.right[box] - this.boxes.left[box] >= LEAST_TEXT) {
        this.writeLabel(box, y);
      }
    }
  }

  isMatch(node) {
    return node !== ROOT && this.matches !== null && this.matches[this.tree.frame[node]] === 1;
  }

  // Frames outside the zoomed part or the search step back.
  fillBox(box, y) {
    const node = this.boxes.node[box];
    const match = this.isMatch(node);
    const outside = this.tree.depth[node] < this.tree.depth[this.zoom] || (this.matches && !match);
    const context = this.context;
    context.globalAlpha = outside && !match ? 0.5 : 1;
    context.fillStyle = match ? this.palette.mark
      : node === ROOT ? this.palette.kind[COMM] : this.palette.fill[this.tints[this.tree.frame[node]]];
    const left = Math.round(this.boxes.left[box] * this.ratio);
    const width = Math.max(Math.round(this.boxes.right[box] * this.ratio) - left, 1);
    const gap = width > 4 * this.ratio ? Math.round(this.ratio) : 0;
    context.fillRect(left / this.ratio, y, (width - gap) / this.ratio, this.rowHeight - 1);
  }

  writeLabel(box, y) {
    const node = this.boxes.node[box];
    const left = this.boxes.left[box];
    const text = this.fitLabel(node, this.boxes.right[box] - left - 9);
    if (text) {
      this.context.fillStyle = this.isMatch(node) ? this.palette.markText : this.palette.text;
      this.context.fillText(text, left + 4, y + this.rowHeight / 2);
    }
  }

  labelWidth(node, label) {
    const frame = this.tree.frame[node];
    if (frame === NO_FRAME) {
      return this.context.measureText(label).width;
    }
    if (this.widths[frame] === 0) {
      this.widths[frame] = this.context.measureText(label).width;
    }
    return this.widths[frame];
  }

  // As much of the label as has room, or '' when that would say nothing.
  fitLabel(node, room) {
    const label = this.label(node);
    const width = this.labelWidth(node, label);
    if (width <= room) {
      return label;
    }
    let keep = Math.ceil(label.length * room / width);
    let text = '';
    do {
      text = label.slice(0, keep).replace(/[\ud800-\udbff]$/, '') + '\u2026';
      keep--;
    } while (keep > 0 && this.context.measureText(text).width > room);
    return text.length < 4 ? '' : text;
  }

  // ---- rings ----------------------------------------------------------------------------------

  setHover(node) {
    this.hover = node;
    this.placeRings();
  }

  placeRings() {
    this.placeRing(byId('hover'), this.hover);
    this.placeRing(byId('focus'), this.focus);
  }

  placeRing(ring, node) {
    const place = node < 0 ? null : this.rectangle(node);
    ring.hidden = !place;
    if (place) {
      ring.style.left = place.x + 'px';
      ring.style.top = place.y + this.scroller.scrollTop + 'px';
      ring.style.width = Math.max(place.width - 1, 2) + 'px';
      ring.style.height = place.height + 'px';
    }
  }

  // ---- moving ---------------------------------------------------------------------------------

  zoomTo(node, animate) {
    const tree = this.tree;
    const view = { from: tree.start[node], to: tree.start[node] + tree.total[node] };
    const before = this.view;
    if (!(view.to > view.from)) {
      return;
    }
    this.zoom = this.focus = node;
    if (!this.width) {
      this.view = view;
      this.onview();
      return;
    }
    layOut(this.boxes, tree, view, this.width);
    this.leastRows = Math.max(this.rows, rowCount(this.boxes));
    const still = !animate || matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.move(before, view, this.scrollFor(node), still ? 0 : DURATION);
    this.onview();
  }

  // Where to scroll so that a frame and what is below it can be seen; not at all if it can already.
  scrollFor(node) {
    const depth = this.tree.depth[node];
    const now = this.rootScroll;
    const least = Math.min(rowCount(this.boxes) - depth, 8) * this.rowHeight;
    const at = depth * this.rowHeight;
    return at >= now && at + least <= now + this.height ? now : Math.max(at - 3 * this.rowHeight, 0);
  }

  move(before, after, scroll, duration) {
    cancelAnimationFrame(this.running);
    const began = performance.now();
    const scrolled = this.rootScroll;
    const step = (now) => {
      const part = duration ? Math.min(Math.max((now - began) / duration, 0), 1) : 1;
      const eased = part * (2 - part);
      this.leastRows = part < 1 ? this.leastRows : 0;
      this.show(part < 1 ? viewBetween(before, after, eased) : after);
      this.rootScroll = scrolled + (scroll - scrolled) * eased;
      if (part < 1) {
        this.running = requestAnimationFrame(step);
      }
    };
    step(began);
  }

  setFlipped(flipped) {
    const scrolled = this.rootScroll;
    this.flipped = flipped;
    this.rootScroll = scrolled;
    this.paint();
  }

  setFocus(node) {
    this.focus = node;
    const at = this.tree.depth[node] * this.rowHeight;
    const seen = this.rootScroll;
    if (at < seen) {
      this.rootScroll = at;
    } else if (at + this.rowHeight > seen + this.height) {
      this.rootScroll = at + this.rowHeight - this.height;
    }
    this.placeRings();
  }
}
