// SPDX-License-Identifier: MIT
//
// Large profiles: 100,000 nodes, and stacks that are thousands of frames deep. Times are told; only
// what would be a freeze fails.

import assert from 'node:assert/strict';
import { COMM } from '../encode.mjs';
import { randomProfile } from '../generate.mjs';
import { frames, near, text } from '../browser.mjs';

const FREEZE = 5000;

async function large(lab) {
  const page = await lab.open(randomProfile({ count: 100000, labels: 10000 }), { viewport: { width: 1440, height: 900 } });
  const first = await page.evaluate(() => ({ ...window.perfev.timings }));
  const zoom = await page.evaluate(() => {
    const times = [];
    for (const { node } of window.perfev.frames().filter((frame) => frame.width > 150)) {
      window.perfev.zoomTo(node);
      times.push(window.perfev.timings.zoom);
    }
    window.perfev.reset();
    return Math.max(...times, window.perfev.timings.zoom);
  });
  const search = await page.evaluate(() => {
    const began = performance.now();
    window.perfev.search('ab.*7');
    return performance.now() - began;
  });
  const times = { ...first, zoom, search };
  Object.entries(times).forEach(([what, time]) => assert.ok(time < FREEZE, `${what} took ${time} ms`));
  return Object.entries(times).map(([what, time]) => `${what} ${Math.round(time)} ms`).join(', ');
}

// One stack, as deep as recursion without an end makes it.
function deepProfile(depth) {
  const nodes = Array.from({ length: depth }, (_, i) => ({ parent: i, frame: i === 0 ? 0 : 1 + i % 3, self: 1 }));
  const functions = ['walk', 'visit', 'next'].map((label) => ({ label, module: 'm' }));
  return { frames: [{ label: 'thread', kind: COMM }, ...functions], events: [{ name: 'x', nodes }] };
}

async function deep(lab) {
  const page = await lab.open(deepProfile(6000), { viewport: { width: 1280, height: 700 } });
  const drawn = await frames(page);
  assert.ok(drawn.length > 10 && drawn.length < 60, `only what is seen is drawn: ${drawn.length} frames`);
  await page.evaluate(() => { document.getElementById('scroll').scrollTop = 2000 * 19; });
  await page.waitForFunction(() => window.perfev.frames()[0].node === 2000);
  near((await frames(page))[0].y, 0, 'the row at the top', 0.5);
  const [self, total] = await page.evaluate(() => window.perfev.functions()
    .reduce(([sum, most], entry) => [sum + entry.self, Math.max(most, entry.total)], [0, 0]));
  assert.deepEqual([self, total], [5999, 5999], 'totals of recursion');
  await page.focus('#canvas');
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('ArrowDown');
  }
  assert.match(await text(page, '#live'), /^walk,|^visit,|^next,/);
  assert.ok((await frames(page)).some((frame) => frame.node === 60), 'the pane follows the focus');
  const { node } = (await frames(page)).pop();
  await page.evaluate((to) => window.perfev.zoomTo(to), node);
  assert.ok((await frames(page)).some((frame) => frame.node === node && frame.x === 0), 'and the zoom');
}

async function deepFlipped(lab) {
  const page = await lab.open(deepProfile(3000), { viewport: { width: 1280, height: 700 } });
  await page.click('#flip');
  const { height } = await page.locator('#canvas').boundingBox();
  const [root] = await frames(page);
  assert.equal(root.label, 'all');
  near(root.y + root.height + 1, height, 'the root is at the bottom', 1);
  await page.evaluate(() => { document.getElementById('scroll').scrollTop -= 1000 * 19; });
  await page.waitForFunction(() => window.perfev.frames().some((frame) => frame.node === 1010));
}

export const cases = [
  ['size: 100,000 nodes', large],
  ['size: 6,000 frames deep', deep],
  ['size: deep and flipped', deepFlipped],
];
