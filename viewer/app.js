// SPDX-License-Identifier: MIT
//
// Starts the page and joins its parts. Invariant: what is shown follows from `profile`, the event, the
// zoomed node, the search and the theme; each of them is changed by one method here, whoever asks.
//
// For scripts and tests there is window.perfev:
//   ready            a Promise of this object, kept when graph and table are drawn or have failed
//   error            null, or why there is nothing to show
//   profile          what decode.js made: { title, facts, frames, events, modules }
//   timings          milliseconds: decode, tree, paint, all of these until the first picture (first),
//                    functions, and the last zoom (layout and paint of its end, or of its first step)
//   event            the number of the event that is shown; selectEvent(number)
//   zoom             the node that fills the width; zoomTo(node) and reset(), without animation
//   search(text)     marks frames; returns { samples, percent, nodes }; search('') clears
//   frames()         what is drawn: [{ node, label, x, y, width, height, samples, matched }], in CSS
//                    pixels from the upper left corner of the canvas
//   functions()      the table in its order: [{ name, module, self, total }]
//   theme(name)      'light' or 'dark'; without a name only tells
// Nodes have the numbers of the profile; 0 is the root.

const CARD_ROOM = 240;

class App {
  constructor(profile, timings) {
    this.profile = profile;
    this.timings = timings;
    this.rank = rankFrames(profile.frames);
    this.trees = [];
    this.mark = null;
    this.table = null;
    this.graph = new FlameGraph(profile.frames);
    this.card = new Card();
    this.graph.onview = () => this.showPath();
    this.card.onaction = (action, node) => this.act(action, node);
  }

  start() {
    const { title, facts, events, modules } = this.profile;
    writeTitle(title);
    writeFacts(facts);
    writeModules(modules);
    this.listEvents();
    this.setTheme(document.documentElement.dataset.theme);
    this.selectEvent(Math.max(events.findIndex((event) => event.samples > 0), 0));
  }

  // The table comes after the first picture, which is not to wait for it.
  addTable() {
    const { frames } = this.profile;
    this.table = new FunctionTable(frames, this.groups, this.rank);
    this.table.onpick = (group) => this.pickFunction(group);
    if (this.tree) {
      this.showFunctions();
    }
  }

  get groups() {
    this.grouped = this.grouped || groupFunctions(this.profile.frames);
    return this.grouped;
  }

  // ---- events ---------------------------------------------------------------------------------

  listEvents() {
    const { events } = this.profile;
    byId('event').replaceChildren(...events.map((event, i) => make('option', {
      value: i, textContent: shown(event.name) + (event.samples > 0 ? '' : ' (no samples)'),
    })));
    byId('event-choice').hidden = events.length < 2;
    byId('event').addEventListener('change', (change) => this.selectEvent(Number(change.target.value)));
  }

  selectEvent(number) {
    const event = this.profile.events[number];
    this.event = number;
    byId('event').value = number;
    this.card.hide();
    const full = Boolean(event && event.samples > 0);
    byId('main').hidden = byId('views').hidden = !full;
    byId('empty').hidden = full;
    byId('summary').textContent = event ? this.summary(event) : '';
    if (full) {
      this.showEvent(event, number);
    } else {
      writeEmpty(event);
    }
  }

  summary(event) {
    const name = this.profile.events.length < 2 ? shown(event.name) + ' \u00b7 ' : '';
    return `${name}${plural(event.samples, 'sample', 'samples')} \u00b7 weight ${counted(event.weight)}`;
  }

  showEvent(event, number) {
    this.time('tree', () => {
      this.tree = this.trees[number] || buildTree(event, this.rank);
      this.trees[number] = this.tree;
    });
    byId('canvas').setAttribute('aria-label', `Flame graph of ${shown(event.name)}, ` +
      `${plural(event.samples, 'sample', 'samples')}. Arrow keys move, Enter zooms, Escape resets.`);
    this.time('paint', () => this.graph.setTree(this.tree));
    if (this.table) {
      this.showFunctions();
    }
    this.countMark();
    this.showPath();
  }

  showFunctions() {
    const samples = this.tree.total[ROOT];
    this.time('functions', () =>
      this.table.setTotals(functionTotals(this.tree, this.groups), samples, this.palette));
  }

  time(what, work) {
    const began = performance.now();
    work();
    this.timings[what] = performance.now() - began;
  }

  // ---- theme and views ------------------------------------------------------------------------

  setTheme(name) {
    this.palette = makePalette(name);
    writeLegend(this.palette);
    this.graph.setPalette(this.palette);
    if (this.table && this.tree) {
      this.table.setPalette(this.palette);
    }
  }

  // On narrow screens 'both' is not offered, and the graph stands for it.
  setView(view) {
    this.view = view;
    const narrow = !matchMedia(WIDE).matches;
    const seen = narrow && view === 'both' ? 'graph' : view;
    byId('main').dataset.view = seen;
    for (const button of byId('views').children) {
      button.setAttribute('aria-pressed', button.dataset.view === seen);
    }
  }

  // ---- zoom -----------------------------------------------------------------------------------

  zoomTo(node, animate = true) {
    this.card.hide();
    if (!byId('main').hidden) {
      this.time('zoom', () => this.graph.zoomTo(node, animate));
    }
  }

  reset(animate = true) {
    this.zoomTo(ROOT, animate);
  }

  ancestors(node) {
    const path = [];
    for (let at = node; at !== ROOT; at = this.tree.parent[at]) {
      path.unshift(at);
    }
    return path;
  }

  showPath() {
    const { zoom } = this.graph;
    const path = this.ancestors(zoom);
    const step = (node) => make('button', {
      type: 'button', textContent: this.graph.label(node), onclick: () => this.zoomTo(node),
    });
    const items = [step(ROOT), ...path.slice(-3).map(step)];
    items[items.length - 1].setAttribute('aria-current', 'true');
    byId('path-list').classList.toggle('cut', path.length > 3);
    byId('path-list').replaceChildren(...items.map((item) => make('li', {}, item)));
    const samples = this.tree.total[zoom];
    byId('path-samples').textContent = `${counted(samples)} \u00b7 ${percent(samples, this.tree.total[ROOT])}`;
    byId('reset').disabled = zoom === ROOT;
  }

  // ---- search ---------------------------------------------------------------------------------

  search(text) {
    this.setMark(text === '' ? null : { group: -1, matches: matchText(this.profile.frames, text) });
  }

  markFunction(group) {
    const matches = Uint8Array.from(this.groups.of, (of) => of === group ? 1 : 0);
    byId('search').value = this.profile.frames.label[this.groups.frame[group]];
    this.setMark({ group, matches });
  }

  clearSearch() {
    byId('search').value = '';
    this.setMark(null);
  }

  setMark(mark) {
    this.mark = mark;
    if (this.table) {
      this.table.mark(mark ? mark.group : -1);
    }
    this.countMark();
    this.graph.matches = mark && mark.matches;
    this.graph.paint();
  }

  // Tells the share of the samples that the marked frames have.
  countMark() {
    byId('clear').hidden = !this.mark;
    if (!this.mark || !this.tree) {
      byId('share').textContent = '';
      return;
    }
    Object.assign(this.mark, countMatches(this.tree, this.mark.matches));
    const { samples, nodes, group } = this.mark;
    this.mark.percent = samples / this.tree.total[ROOT] * 100;
    byId('share').textContent = nodes === 0 ? 'nothing found'
      : `${group < 0 ? '' : 'exactly this: '}${percent(samples, this.tree.total[ROOT])} \u00b7 ` +
        `${plural(samples, 'sample', 'samples')} in ${plural(nodes, 'frame', 'frames')}`;
  }

  pickFunction(group) {
    if (this.mark && this.mark.group === group) {
      this.clearSearch();
      return;
    }
    this.markFunction(group);
    if (byId('main').dataset.view === 'functions') {
      this.setView('both');
    }
  }

  // ---- one frame ------------------------------------------------------------------------------

  // What the card tells about a node.
  describe(node) {
    const { tree, graph } = this;
    const all = tree.total[ROOT];
    const zoomed = tree.total[graph.zoom];
    const total = tree.total[node];
    const self = tree.self[node];
    const numbers = [
      ['Samples', counted(total), counted(self)],
      ['Of all', percent(total, all), percent(self, all)],
      ['Of zoomed', percent(Math.min(total, zoomed), zoomed), percent(self, zoomed)],
      ['Weight', counted(totalWeight(tree, node)), counted(tree.selfWeight[node])],
    ];
    if (graph.zoom === ROOT) {
      numbers.splice(2, 1);
    }
    return { node, name: this.fullName(node), place: this.placeOf(node), numbers };
  }

  fullName(node) {
    const frame = this.tree.frame[node];
    return node === ROOT ? 'all' : shown(this.profile.frames.label[frame]);
  }

  placeOf(node) {
    if (node === ROOT) {
      return 'all samples of the event';
    }
    const { module, kind, unnamed } = this.profile.frames;
    const frame = this.tree.frame[node];
    if (kind[frame] === COMM) {
      return 'thread';
    }
    return `${KINDS[kind[frame]]}${unnamed[frame] ? ', no name known' : ''} \u00b7 ${shown(module[frame])}`;
  }

  announce(node) {
    const { total, self } = this.tree;
    byId('live').textContent = `${this.fullName(node)}, ${this.placeOf(node)}, ` +
      `${plural(total[node], 'sample', 'samples')}, ${percent(total[node], total[ROOT])}, self ${counted(self[node])}`;
  }

  // The card of a node beside a point of the window; without one at the bottom of the graph, where it
  // covers least, or at the frame if that is there.
  showCard(node, pin, point = null) {
    this.cardScroll = byId('scroll').scrollTop;
    this.card.show(this.describe(node), point
      ? { left: point.x + 12, top: point.y - 6, bottom: point.y + 12 }
      : this.cardAnchor(node), pin);
  }

  cardAnchor(node) {
    const canvas = byId('canvas').getBoundingClientRect();
    const { left } = canvas;
    const place = this.graph.rectangle(node);
    if (!place || place.y + place.height < canvas.height - CARD_ROOM) {
      return { left, top: canvas.bottom, bottom: Infinity };
    }
    return { left: left + place.x, top: canvas.top + place.y, bottom: Infinity };
  }

  act(action, node) {
    const group = this.groups.of[this.tree.frame[node]];
    const backToGraph = () => byId('canvas').focus({ preventScroll: true });
    this.card.hide();
    backToGraph();
    if (action === 'copy') {
      copyText(this.profile.frames.label[this.tree.frame[node]]).then(backToGraph);
      byId('live').textContent = 'Name copied';
      return;
    }
    this.markFunction(group);
    if (action === 'focus') {
      this.zoomTo(widestNode(this.tree, this.groups, group));
    }
  }
}

// The theme of the page, whether there is a profile or not.
function setTheme(app, name) {
  const other = name === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = name;
  byId('theme').title = `Switch to the ${other} theme`;
  byId('theme').setAttribute('aria-label', byId('theme').title);
  if (app) {
    app.setTheme(name);
  }
}

// The object for scripts; without a profile its methods do nothing.
function publish(app, error, timings) {
  const drawn = () => app && app.tree && !byId('main').hidden;
  const api = {
    error,
    timings,
    profile: app && app.profile,
    get event() { return app ? app.event : -1; },
    get zoom() { return drawn() ? app.graph.zoom : ROOT; },
    selectEvent: (number) => app && app.selectEvent(number),
    zoomTo: (node) => drawn() && app.zoomTo(node, false),
    reset: () => drawn() && app.reset(false),
    search(text) {
      byId('search').value = text;
      app && app.search(text);
      const { samples = 0, percent: share = 0, nodes = 0 } = app && app.mark || {};
      return { samples, percent: share, nodes };
    },
    frames: () => drawn() ? app.graph.drawn() : [],
    functions: () => drawn() && app.table ? app.table.list() : [],
    theme(name) {
      if (name === 'light' || name === 'dark') {
        setTheme(app, name);
      }
      return document.documentElement.dataset.theme;
    },
  };
  return api;
}

function openProfile(timings) {
  const began = performance.now();
  const profile = decodeProfile(byId('profile').textContent);
  timings.decode = performance.now() - began;
  const app = new App(profile, timings);
  connectInput(app);
  app.start();
  return app;
}

function start() {
  const began = performance.now();
  const timings = {};
  let app = null;
  let error = null;
  connectTheme((name) => setTheme(app, name));
  byId('loading').remove();
  byId('page').hidden = false;
  try {
    app = openProfile(timings);
  } catch (failure) {
    if (!(failure instanceof DecodeError)) {
      throw failure;
    }
    error = failure.message;
    writeError(error);
  }
  timings.first = performance.now() - began;
  window.perfev = publish(app, error, timings);
  window.perfev.ready = afterPaint(() => app && app.addTable()).then(() => window.perfev);
}

// Does the work when the browser has had time to paint; in a hidden page, which never paints, too.
function afterPaint(work) {
  const painted = new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const hidden = new Promise((resolve) => setTimeout(resolve, 300));
  return Promise.race([painted, hidden]).then(work);
}

start();
