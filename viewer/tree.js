// SPDX-License-Identifier: MIT
//
// The call tree of one event, and what is counted on it. There may be 100,000 nodes and more, so a
// tree is typed arrays indexed by node; node 0 is the root, and 0 in `first` and `next` means none.
// Invariants: a parent's number is below its children's; total = self + totals of the children; a
// node's children lie side by side, by name, from its `start` on, inside its total.

const ROOT = 0;

function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// For each text its place among all of them, sorted; equal texts have equal places.
function rankTexts(texts) {
  const sorted = [...new Set(texts)].sort();
  const places = new Map(sorted.map((text, place) => [text, place]));
  return Uint32Array.from(texts, (text) => places.get(text));
}

// For each frame its place in the order of names; with equal names, of modules and kinds.
function rankFrames(frames) {
  const label = rankTexts(frames.label);
  const module = rankTexts(frames.module);
  const order = Uint32Array.from(label, (_, frame) => frame);
  order.sort((a, b) => label[a] - label[b] || module[a] - module[b] || frames.kind[a] - frames.kind[b] || a - b);
  const rank = new Uint32Array(frames.count);
  order.forEach((frame, place) => { rank[frame] = place; });
  return rank;
}

// The nodes but the root, by the rank of their frames (a counting sort).
function nodesByRank(event, rank) {
  const place = new Uint32Array(rank.length + 1);
  for (let node = 1; node < event.count; node++) {
    place[rank[event.frame[node]] + 1]++;
  }
  for (let i = 1; i < place.length; i++) {
    place[i] += place[i - 1];
  }
  const order = new Uint32Array(event.count - 1);
  for (let node = 1; node < event.count; node++) {
    order[place[rank[event.frame[node]]]++] = node;
  }
  return order;
}

function linkChildren(tree, order) {
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i];
    const parent = tree.parent[node];
    tree.next[node] = tree.first[parent];
    tree.first[parent] = node;
  }
}

function sumTotals(tree) {
  tree.total.set(tree.self);
  for (let node = tree.count - 1; node > 0; node--) {
    tree.total[tree.parent[node]] += tree.total[node];
  }
}

function placeNodes(tree) {
  const { first, next, start, total, depth } = tree;
  for (let node = 0; node < tree.count; node++) {
    let at = start[node];
    for (let child = first[node]; child; child = next[child]) {
      start[child] = at;
      at += total[child];
      depth[child] = depth[node] + 1;
    }
  }
}

function buildTree(event, rank) {
  const { count, parent, frame, self, selfWeight } = event;
  const tree = {
    count, parent, frame, self, selfWeight,
    weight: null,
    total: new Float64Array(count),
    first: new Int32Array(count),
    next: new Int32Array(count),
    start: new Float64Array(count),
    depth: new Int32Array(count),
  };
  sumTotals(tree);
  linkChildren(tree, nodesByRank(event, rank));
  placeNodes(tree);
  return tree;
}

// Total weights are only asked for when a frame is looked at, and BigInts are slow: so, late.
function totalWeight(tree, node) {
  if (!tree.weight) {
    tree.weight = BigUint64Array.from(tree.selfWeight);
    for (let i = tree.count - 1; i > 0; i--) {
      tree.weight[tree.parent[i]] += tree.weight[i];
    }
  }
  return tree.weight[node];
}

// A function is a name in a module, inlined or not; a thread's name is one of its own. Returns for
// each frame its function, and for each function one of its frames (not inlined, if there is one).
function groupFunctions(frames) {
  const of = new Uint32Array(frames.count);
  const frame = [];
  const known = new Map();
  for (let i = 0; i < frames.count; i++) {
    const kind = frames.kind[i];
    const key = (kind === COMM ? 't' : 'f') + frames.label[i].length + ' ' + frames.label[i] + frames.module[i];
    let group = known.get(key);
    if (group === undefined) {
      group = frame.length;
      known.set(key, group);
      frame.push(i);
    } else if (frames.kind[frame[group]] === INLINED && kind !== INLINED) {
      frame[group] = i;
    }
    of[i] = group;
  }
  return { of, frame };
}

// Goes through the tree in the order of drawing: enter(node) before its children, leave(node) after.
function walkTree(tree, enter, leave) {
  const { first, next, parent } = tree;
  let node = ROOT;
  for (;;) {
    enter(node);
    if (first[node]) {
      node = first[node];
      continue;
    }
    while (node !== ROOT && !next[node]) {
      leave(node);
      node = parent[node];
    }
    leave(node);
    if (node === ROOT) {
      return;
    }
    node = next[node];
  }
}

// Self and total samples of each function. A sample counts once for a function, however often the
// function is on its stack: only the outermost frame adds to the total.
function functionTotals(tree, groups) {
  const self = new Float64Array(groups.frame.length);
  const total = new Float64Array(groups.frame.length);
  const open = new Uint32Array(groups.frame.length);
  const groupOf = (node) => groups.of[tree.frame[node]];
  walkTree(tree, (node) => {
    if (node !== ROOT) {
      const group = groupOf(node);
      self[group] += tree.self[node];
      total[group] += open[group]++ ? 0 : tree.total[node];
    }
  }, (node) => {
    if (node !== ROOT) {
      open[groupOf(node)]--;
    }
  });
  return { self, total };
}

// Samples with at least one matching frame, and the number of nodes that match.
function countMatches(tree, matches) {
  const covered = new Uint8Array(tree.count);
  let samples = 0;
  let nodes = 0;
  for (let node = 1; node < tree.count; node++) {
    covered[node] = covered[tree.parent[node]];
    if (matches[tree.frame[node]]) {
      nodes++;
      samples += covered[node] ? 0 : tree.total[node];
      covered[node] = 1;
    }
  }
  return { samples, nodes };
}

function matchLabels(frames, test) {
  const matches = new Uint8Array(frames.count);
  for (let i = 0; i < frames.count; i++) {
    matches[i] = test(frames.label[i]) ? 1 : 0;
  }
  return matches;
}

function patternOf(text) {
  try {
    return new RegExp(text, 'i');
  } catch {
    return null;
  }
}

// The frames that a search means: by the text as a regular expression; as plain text where it is none
// or finds nothing, for "operator()" and "f(int)" are names too.
function matchText(frames, text) {
  const pattern = patternOf(text);
  const matches = pattern && matchLabels(frames, (label) => pattern.test(label));
  if (matches && matches.includes(1)) {
    return matches;
  }
  const plain = text.toLowerCase();
  return matchLabels(frames, (label) => label.toLowerCase().includes(plain));
}

function widestNode(tree, groups, group) {
  let best = ROOT;
  for (let node = 1; node < tree.count; node++) {
    if (groups.of[tree.frame[node]] === group && (best === ROOT || tree.total[node] > tree.total[best])) {
      best = node;
    }
  }
  return best;
}
