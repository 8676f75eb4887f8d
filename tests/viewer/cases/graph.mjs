// SPDX-License-Identifier: MIT
//
// The graph: where frames are, what zoom, search and flip do to them, and their colours; all of it
// against numbers that model.mjs works out from the profile alone.

import assert from 'node:assert/strict';
import { COMM, INLINED, KERNEL, USER } from '../encode.mjs';
import { randomProfile, serverProfile } from '../generate.mjs';
import { samplesWith, totals } from '../model.mjs';
import { clickFrame, frameOf, frames, near, pixels, text } from '../browser.mjs';

const TALL = { viewport: { width: 1280, height: 2400 } };

// The frames that a view from `zoom` must show: node to [x, width] as shares of the whole.
function expectedShares(profile, event, zoom) {
  const total = totals(event);
  const places = new Map([[0, 0]]);
  const byParent = event.nodes.reduce((map, node, i) => map.set(node.parent, [...(map.get(node.parent) ?? []), i + 1]), new Map());
  const label = (node) => profile.frames[event.nodes[node - 1].frame].label;
  const place = (node) => {
    let at = places.get(node);
    const sorted = (byParent.get(node) ?? []).sort((a, b) => (label(a) < label(b) ? -1 : label(a) > label(b) ? 1 : 0));
    for (const child of sorted) {
      places.set(child, at);
      at += total[child];
    }
  };
  for (let node = 0; node <= event.nodes.length; node++) {
    place(node);
  }
  return { total, places, from: places.get(zoom), size: total[zoom] };
}

// Labels of siblings must differ for this, for the model sorts by label only.
function distinctSiblings(profile) {
  profile.frames.forEach((frame, i) => { frame.label += `_${i}`; });
  profile.events.forEach((event) => {
    const seen = new Set();
    event.nodes = event.nodes.map((node, i) => {
      const key = (frame) => `${node.parent} ${frame}`;
      let { frame } = node;
      while (seen.has(key(frame))) {
        frame = (frame + 1) % profile.frames.length;
      }
      seen.add(key(frame));
      return { ...node, frame, i };
    });
  });
  return profile;
}

async function assertView(page, profile, zoom) {
  const event = profile.events[0];
  const { total, places, from, size } = expectedShares(profile, event, zoom);
  const drawn = await frames(page);
  const { width } = drawn[0];
  const expected = [...places.keys()].map((node) => {
    const left = Math.max((places.get(node) - from) / size, 0) * width;
    const right = Math.min((places.get(node) + total[node] - from) / size, 1) * width;
    return { node, left, width: right - left };
  }).filter((box) => box.width >= 0.5 + 1e-6);
  const found = new Map(drawn.map((frame) => [frame.node, frame]));
  for (const box of expected) {
    const frame = found.get(box.node);
    assert.ok(frame, `node ${box.node}, ${box.width} wide, is drawn`);
    near(frame.x, box.left, `x of node ${box.node}`, 0.01);
    near(frame.width, box.width, `width of node ${box.node}`, 0.01);
    assert.equal(frame.samples, total[box.node]);
  }
  assert.ok(drawn.every((frame) => frame.width >= 0.5), 'nothing narrower than half a pixel');
  near(drawn.length, expected.length, 'number of frames', expected.length * 0.001);
}

async function geometry(lab) {
  const profile = distinctSiblings(randomProfile({ count: 3000, labels: 60, deep: 0.2, seed: 3 }));
  const page = await lab.open(profile, TALL);
  await assertView(page, profile, 0);
  const inner = (await frames(page)).filter((frame) => frame.width > 20 && frame.width < 300).slice(0, 12);
  for (const frame of inner) {
    await page.evaluate((node) => window.perfev.zoomTo(node), frame.node);
    await assertView(page, profile, frame.node);
  }
  await page.evaluate(() => window.perfev.reset());
  await assertView(page, profile, 0);
}

async function rows(lab) {
  const profile = randomProfile({ count: 400, labels: 50, deep: 0.3 });
  const page = await lab.open(profile, TALL);
  const drawn = await frames(page);
  const place = new Map(drawn.map((frame) => [frame.node, frame]));
  const height = drawn.find((frame) => frame.y > 0).y;
  for (const frame of drawn.slice(1)) {
    const parent = place.get(profile.events[0].nodes[frame.node - 1].parent);
    near(frame.y - parent.y, height, 'a row below the parent', 0.01);
    assert.ok(frame.x >= parent.x - 0.01 && frame.x + frame.width <= parent.x + parent.width + 0.01, 'inside the parent');
  }
}

async function rootHasOwnSamples(lab) {
  const page = await lab.open({
    frames: [{ label: 'c', kind: COMM }],
    events: [{ name: 'x', samples: 8, nodes: [{ parent: 0, frame: 0, self: 2 }] }],
  });
  const [root, comm] = await frames(page);
  near(comm.width, root.width / 4, 'a quarter of the root', 0.01);
  assert.equal(comm.x, 0);
}

// ---- zoom ----------------------------------------------------------------------------------------

async function assertZoomed(page, label) {
  const frame = await frameOf(page, label);
  const root = await frameOf(page, 'all');
  near(frame.width, root.width, `${label} is as wide as the graph`, 0.01);
  assert.equal(frame.x, 0);
}

async function zoomAndReset(lab, reset) {
  const page = await lab.open(serverProfile(3000));
  const before = await frames(page);
  assert.equal(await page.locator('#reset').isDisabled(), true);
  await clickFrame(page, await frameOf(page, 'main'));
  await assertZoomed(page, 'main');
  await assertZoomed(page, '_start');
  assert.equal(await page.evaluate(() => window.perfev.zoom), (await frameOf(page, 'main')).node);
  await reset(page);
  assert.deepEqual(await frames(page), before);
  assert.equal(await page.evaluate(() => window.perfev.zoom), 0);
}

async function breadcrumb(lab) {
  const page = await lab.open(serverProfile(3000));
  await clickFrame(page, await frameOf(page, 'store::ThreadPool::worker_loop(unsigned int)'));
  assert.deepEqual(await page.locator('#path-list li').allTextContents(), ['all', '_start', 'main', 'store::ThreadPool::worker_loop(unsigned int)']);
  await page.click('#path-list li:nth-child(3) button');
  await assertZoomed(page, 'main');
  const main = await frameOf(page, 'main');
  assert.ok((await text(page, '#path-samples')).startsWith(main.samples.toLocaleString('en-US')));
  await clickFrame(page, await frameOf(page, '_start'));
  assert.deepEqual(await page.locator('#path-list li').allTextContents(), ['all', 'stored', '_start'], 'a click above zooms out');
}

async function animation(lab) {
  const page = await lab.open(serverProfile(3000), { motion: true });
  const { width } = await frameOf(page, 'main');
  await clickFrame(page, await frameOf(page, 'main'));
  await page.waitForFunction((from) => window.perfev.frames().find((frame) => frame.label === 'main').width > from + 1, width);
  await page.waitForFunction(() => {
    const [root, ...rest] = window.perfev.frames();
    return rest.find((frame) => frame.label === 'main').width === root.width;
  });
  await page.keyboard.press('Escape');
  await page.waitForFunction((to) => window.perfev.frames().find((frame) => frame.label === 'main').width === to, width);
}

// ---- search --------------------------------------------------------------------------------------

const SEARCHES = [
  ['store', /store/i], ['STORE::', /store::/i], ['copy|mem(cpy|move)', /copy|mem(cpy|move)/i], ['^main$', /^main$/i], ['regex', /regex/i],
  ['insert(char const* const&)', 'insert(char const* const&)'], ['operator new(unsigned long)', 'operator new(unsigned long)'],
  ['_M_dfs(', '_m_dfs('], ['[jit', '[jit'], ['\\[jit\\]', /\[jit\]/], ['worker-', /worker-/], ['.', /./], ['no such name', /no such name/],
  ['_Executor', /_executor/i],
];

async function shares(lab) {
  const profile = serverProfile(6000);
  const page = await lab.open(profile);
  for (const [words, meaning] of SEARCHES) {
    const matches = meaning instanceof RegExp ? (frame) => meaning.test(frame.label)
      : (frame) => frame.label.toLowerCase().includes(meaning);
    const expected = samplesWith(profile, profile.events[0], matches);
    const found = await page.evaluate((query) => window.perfev.search(query), words);
    assert.equal(found.samples, expected, words);
    near(found.percent, expected / 60, words, 1e-9);
    for (const frame of await frames(page)) {
      assert.equal(frame.matched, frame.label !== 'all' && matches(frame), `${words}: ${frame.label}`);
    }
  }
}

async function nestedMatches(lab) {
  const profile = randomProfile({ count: 4000, labels: 40, seed: 9, deep: 0.8 });
  const page = await lab.open(profile);
  for (const word of ['ab', 'ke', 'Ri|zu', 'st_.*1$', 'plpl']) {
    const found = await page.evaluate((query) => window.perfev.search(query), word);
    const expected = samplesWith(profile, profile.events[0], (frame) => new RegExp(word, 'i').test(frame.label));
    assert.equal(found.samples, expected, word);
  }
}

async function searchBox(lab) {
  const profile = serverProfile(6000);
  const page = await lab.open(profile);
  const expected = samplesWith(profile, profile.events[0], (frame) => /memcmp/.test(frame.label));
  await page.fill('#search', 'memcmp');
  const percent = (expected / 60).toFixed(2);
  assert.match(await text(page, '#share'), new RegExp(`^${percent}% . ${expected.toLocaleString('en-US')} samples in \\d+ frames$`));
  await page.fill('#search', 'nothing like it');
  assert.equal(await text(page, '#share'), 'nothing found');
  await page.click('#clear');
  assert.equal(await text(page, '#share'), '');
  assert.equal(await page.locator('#search').inputValue(), '');
  assert.ok((await frames(page)).every((frame) => !frame.matched));
  assert.equal(await page.locator('#clear').isVisible(), false);
}

// ---- looks ---------------------------------------------------------------------------------------

async function flip(lab) {
  const page = await lab.open(serverProfile(3000));
  const before = await frames(page);
  await page.click('#flip');
  const after = await frames(page);
  const { height } = await page.locator('#canvas').boundingBox();
  assert.deepEqual(after.map(({ node, x, width }) => [node, x, width]), before.map(({ node, x, width }) => [node, x, width]));
  before.forEach((frame, i) => near(height - after[i].y - frame.height, frame.y, 'mirrored', 1.01));
  await clickFrame(page, after.find((frame) => frame.label === 'main'));
  await assertZoomed(page, 'main');
}

async function colorAt(page, frame) {
  return (await pixels(page, frame.x + frame.width - 3, frame.y + 2))[0];
}

async function colors(lab) {
  const frames = [['comm', COMM], ['same', USER], ['same', KERNEL], ['same', INLINED], ['q', USER], ['zz', USER], ['same', USER]]
    .map(([label, kind], i) => ({ label, kind, module: String(i) }));
  const leaves = frames.slice(1).map((_, i) => ({ parent: 1, frame: i + 1, self: 10 }));
  const nodes = [{ parent: 0, frame: 0 }, ...leaves, { parent: 6, frame: 1, self: 30 }];
  // Node 2 is frame 1; node 7 frame 6, of the same name; node 8 frame 1 again.
  const page = await lab.open({ frames, events: [{ name: 'x', nodes }] });
  const drawn = await page.evaluate(() => window.perfev.frames());
  const color = new Map();
  for (const frame of drawn) {
    color.set(frame.node, (await colorAt(page, frame)).join());
  }
  assert.equal(color.get(2), color.get(7), 'equal names have equal colours');
  assert.equal(color.get(2), color.get(8), 'in every place');
  assert.equal(new Set([color.get(1), color.get(2), color.get(3), color.get(4)]).size, 4, 'kinds differ');
  assert.notEqual(color.get(5), color.get(6), 'names differ');
  await page.evaluate(() => window.perfev.search('^zz$'));
  const match = drawn.find((frame) => frame.node === 6);
  const [red, green, blue] = await colorAt(page, match);
  assert.ok(red > 200 && green < 150 && blue > 100, `a match is pink: ${[red, green, blue]}`);
}

// As many pixels as the screen has, and frames in the same places.
async function sharp(lab) {
  const [plain, fine] = await Promise.all([1, 2.5].map((deviceScaleFactor) => lab.open(serverProfile(2000), { deviceScaleFactor })));
  const [width, css] = await fine.evaluate(() => [document.getElementById('canvas').width, document.getElementById('canvas').clientWidth]);
  near(width, css * 2.5, 'canvas pixels', 1);
  for (const frame of (await frames(plain)).filter((one) => one.width > 12)) {
    const [expected, found] = await Promise.all([plain, fine].map((page) => colorAt(page, frame)));
    assert.deepEqual(found, expected, frame.label);
  }
}

export const cases = [
  ['graph: places and widths, zoomed and not', geometry],
  ['graph: a row for each depth', rows],
  ['graph: samples of the root', rootHasOwnSamples],
  ['graph: zoom, reset by Escape', (lab) => zoomAndReset(lab, (page) => page.keyboard.press('Escape'))],
  ['graph: zoom, reset by the button', (lab) => zoomAndReset(lab, (page) => page.click('#reset'))],
  ['graph: zoom, reset by the path', (lab) => zoomAndReset(lab, (page) => page.click('#path-list button'))],
  ['graph: zoom, reset by a click on the root', (lab) => zoomAndReset(lab, async (page) => clickFrame(page, await frameOf(page, 'all')))],
  ['graph: path to the zoomed part', breadcrumb],
  ['graph: zoom moves where motion is wanted', animation],
  ['graph: shares of searches', shares],
  ['graph: a sample counts once for nested matches', nestedMatches],
  ['graph: search box and Clear', searchBox],
  ['graph: flip', flip],
  ['graph: colours by kind and name', colors],
  ['graph: sharp at any pixel ratio', sharp],
];
