// SPDX-License-Identifier: MIT
//
// The table of functions. There may be 50,000 of them, so order and filter work on arrays of numbers,
// and only the first rows become elements; a button asks for more. Invariant: `order` holds the
// functions with samples that pass the filter, sorted; the rows shown are its first `limit`.

const FIRST_ROWS = 200;
const MORE_ROWS = 500;
const COLUMNS = ['self', 'total', 'name', 'module'];

function greater(a, b) {
  return Math.max(a, b);
}

class FunctionTable {
  // `rank`: for each frame its place in the order of names.
  constructor(frames, groups, rank) {
    this.frames = frames;
    this.groups = groups;
    this.column = 'self';
    this.descending = true;
    this.filter = '';
    this.marked = -1;
    this.order = [];
    this.onpick = () => {};
    this.rank = Uint32Array.from(groups.frame, (frame) => rank[frame]);
    this.moduleRank = rankTexts(groups.frame.map((frame) => frames.module[frame]));
    for (const column of COLUMNS) {
      byId('by-' + column).addEventListener('click', () => this.sortBy(column));
    }
    byId('more').addEventListener('click', () => this.showMore());
    byId('filter').addEventListener('input', (event) => this.setFilter(event.target.value));
    byId('rows').addEventListener('click', (event) => this.pick(event));
  }

  setTotals(totals, samples, palette) {
    this.totals = totals;
    this.most = { self: totals.self.reduce(greater, 0), total: totals.total.reduce(greater, 0) };
    this.samples = samples;
    byId('table').style.setProperty('--digits', counted(this.most.total).length);
    this.palette = palette;
    this.update();
  }

  setPalette(palette) {
    this.palette = palette;
    this.render();
  }

  setFilter(text) {
    this.filter = text;
    this.update();
  }

  sortBy(column) {
    this.descending = this.column === column ? !this.descending : column === 'self' || column === 'total';
    this.column = column;
    this.update();
  }

  // ---- order ----------------------------------------------------------------------------------

  passes() {
    const { label, module, kind } = this.frames;
    const pattern = patternOf(this.filter);
    const plain = this.filter.toLowerCase();
    return (group) => {
      const frame = this.groups.frame[group];
      if (kind[frame] === COMM || !(this.totals.total[group] > 0)) {
        return false;
      }
      const text = label[frame] + ' ' + module[frame];
      return plain === '' || (pattern && pattern.test(text)) || text.toLowerCase().includes(plain);
    };
  }

  comparison() {
    const { self, total } = this.totals;
    const { rank, moduleRank } = this;
    const rest = (a, b) => self[b] - self[a] || total[b] - total[a] || rank[a] - rank[b];
    const key = { self, total, name: rank, module: moduleRank }[this.column];
    const sign = this.descending ? -1 : 1;
    return (a, b) => sign * (key[a] - key[b]) || rest(a, b);
  }

  update() {
    this.order = [...this.groups.frame.keys()].filter(this.passes()).sort(this.comparison());
    this.limit = FIRST_ROWS;
    for (const column of COLUMNS) {
      const state = column !== this.column ? 'none' : this.descending ? 'descending' : 'ascending';
      byId('by-' + column).closest('th').setAttribute('aria-sort', state);
    }
    byId('table').scrollTop = 0;
    this.render();
  }

  // What is shown, in order, for scripts.
  list() {
    return this.order.map((group) => {
      const frame = this.groups.frame[group];
      return {
        name: this.frames.label[frame],
        module: this.frames.module[frame],
        self: this.totals.self[group],
        total: this.totals.total[group],
      };
    });
  }

  // ---- rows -----------------------------------------------------------------------------------

  showMore() {
    const first = this.limit;
    this.limit += MORE_ROWS;
    this.append(first);
    byId('rows').children[first].querySelector('button').focus({ preventScroll: true });
  }

  render() {
    byId('rows').replaceChildren();
    this.append(0);
    byId('function-count').textContent = plural(this.order.length, 'function', 'functions');
    byId('no-rows').hidden = this.order.length > 0;
  }

  append(first) {
    const groups = this.order.slice(first, this.limit);
    byId('rows').append(...groups.map((group) => this.row(group)));
    const left = Math.max(this.order.length - this.limit, 0);
    byId('more').hidden = left === 0;
    byId('more').textContent = `Show more (${counted(left)} left)`;
  }

  // Samples and percent; behind them a bar, as long as the cell for the most that a function has.
  number(samples, most) {
    const cell = make('td', { className: 'number' },
      make('span', { textContent: counted(samples) }),
      make('span', { className: 'share', textContent: percent(samples, this.samples) }));
    cell.style.backgroundSize = (most > 0 ? samples / most * 100 : 0) + '% 2px';
    return cell;
  }

  // The folders of a module's path are an element of their own: where there is no room, they go first.
  module(frame) {
    const path = shown(this.frames.module[frame]);
    const cut = path.lastIndexOf('/') + 1;
    return make('td', { className: 'module', title: path }, make('bdi', {},
      make('span', { className: 'folders', textContent: path.slice(0, cut) }), path.slice(cut)));
  }

  row(group) {
    const frame = this.groups.frame[group];
    const name = shown(this.frames.label[frame]);
    const dot = make('i', { className: 'dot', title: KINDS[this.frames.kind[frame]] });
    dot.style.backgroundColor = this.palette.kind[this.frames.kind[frame]];
    const button = make('button', { type: 'button', className: 'name', title: name }, make('bdi', { textContent: name }));
    const row = make('tr', { className: group === this.marked ? 'marked' : '' },
      this.number(this.totals.self[group], this.most.self),
      this.number(this.totals.total[group], this.most.total),
      make('td', {}, dot, button), this.module(frame));
    row.dataset.group = group;
    return row;
  }

  pick(event) {
    const row = event.target.closest('tr');
    if (row && getSelection().isCollapsed) {
      this.onpick(Number(row.dataset.group));
    }
  }

  mark(group) {
    this.marked = group;
    for (const row of byId('rows').children) {
      const marked = Number(row.dataset.group) === group;
      row.classList.toggle('marked', marked);
      row.querySelector('button').setAttribute('aria-pressed', marked);
    }
  }
}
