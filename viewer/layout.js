// SPDX-License-Identifier: MIT
//
// Which frames of a tree can be seen in a part [from, to] of its samples, drawn `width` pixels wide,
// and where. Frames narrower than LEAST pixels are left out, and with them all that is below: so the
// work depends on the size of the picture, not of the tree. Invariant: boxes are in rows by depth, in
// a row from left to right; row r holds the boxes rows[r] to rows[r + 1] - 1.

const LEAST = 0.5;

function newBoxes(count) {
  return {
    node: new Int32Array(count),
    left: new Float64Array(count),
    right: new Float64Array(count),
    rows: [0, 0],
  };
}

// Adds the children of `parent` that can be seen behind the `end` boxes there are; returns the new end.
function addChildren(boxes, end, tree, parent, view, width) {
  const scale = width / (view.to - view.from);
  for (let child = tree.first[parent]; child; child = tree.next[child]) {
    const at = (tree.start[child] - view.from) * scale;
    if (at >= width) {
      break;
    }
    const left = Math.max(at, 0);
    const right = Math.min(at + tree.total[child] * scale, width);
    if (right - left >= LEAST) {
      boxes.node[end] = child;
      boxes.left[end] = left;
      boxes.right[end++] = right;
    }
  }
  return end;
}

function layOut(boxes, tree, view, width) {
  boxes.node[0] = ROOT;
  boxes.left[0] = 0;
  boxes.right[0] = width;
  boxes.rows = [0];
  let begin = 0;
  let end = 1;
  while (end > begin) {
    boxes.rows.push(end);
    const row = end;
    for (let box = begin; box < row; box++) {
      end = addChildren(boxes, end, tree, boxes.node[box], view, width);
    }
    begin = row;
  }
}

function rowCount(boxes) {
  return boxes.rows.length - 1;
}

// The box of a row that holds the place `x`, or -1.
function boxAt(boxes, row, x) {
  if (row < 0 || row >= rowCount(boxes)) {
    return -1;
  }
  let low = boxes.rows[row];
  let high = boxes.rows[row + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes.right[middle] <= x) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < boxes.rows[row + 1] && boxes.left[low] <= x ? low : -1;
}

// The box of a node, or -1 when it is not seen.
function boxOf(boxes, tree, node) {
  const row = tree.depth[node];
  for (let box = boxes.rows[row]; row < rowCount(boxes) && box < boxes.rows[row + 1]; box++) {
    if (boxes.node[box] === node) {
      return box;
    }
  }
  return -1;
}

// The view on the way from one to another: at `part` 0 the first, at 1 the second. Edges move in
// straight lines on the screen.
function viewBetween(a, b, part) {
  const scaleA = 1 / (a.to - a.from);
  const scaleB = 1 / (b.to - b.from);
  const scale = scaleA + (scaleB - scaleA) * part;
  const offset = a.from * scaleA + (b.from * scaleB - a.from * scaleA) * part;
  return { from: offset / scale, to: (offset + 1) / scale };
}

function boxBeside(boxes, tree, node, step) {
  const box = boxOf(boxes, tree, node);
  const row = tree.depth[node];
  const other = box + step;
  if (box < 0 || other < boxes.rows[row] || other >= boxes.rows[row + 1]) {
    return -1;
  }
  return tree.parent[boxes.node[other]] === tree.parent[node] ? other : -1;
}

function widestChildBox(boxes, tree, node) {
  const row = tree.depth[node] + 1;
  let best = -1;
  for (let box = boxes.rows[row]; row < rowCount(boxes) && box < boxes.rows[row + 1]; box++) {
    const child = boxes.node[box];
    if (tree.parent[child] === node && (best < 0 || tree.total[child] > tree.total[boxes.node[best]])) {
      best = box;
    }
  }
  return best;
}

// The node that a step from `node` leads to, among those that are seen; `node` when there is none.
function neighbour(boxes, tree, node, way) {
  if (way === 'parent') {
    return tree.parent[node];
  }
  const box = way === 'child' ? widestChildBox(boxes, tree, node)
    : boxBeside(boxes, tree, node, way === 'next' ? 1 : -1);
  return box < 0 ? node : boxes.node[box];
}
