// SPDX-License-Identifier: MIT
//
// Pointer, touch and keys: what the card tells, what its buttons do, where the focus goes.

import assert from 'node:assert/strict';
import { COMM } from '../encode.mjs';
import { serverProfile } from '../generate.mjs';
import { totals } from '../model.mjs';
import { PHONE, clickFrame, frameOf, frames, hoverFrame, middle, near, text } from '../browser.mjs';

const SCAN = 'store::Table::scan(store::Slice const&, store::Slice const&, store::ScanCallback)';
const HEAP = 'store::MergingIterator::next()';

function focused(page) {
  return text(page, '#live');
}

// ---- card ----------------------------------------------------------------------------------------

async function cardNumbers(lab) {
  const profile = serverProfile(6000);
  const page = await lab.open(profile);
  const event = profile.events[0];
  const total = totals(event);
  await clickFrame(page, await frameOf(page, 'main'));
  const { node } = await frameOf(page, SCAN);
  await hoverFrame(page, await frameOf(page, SCAN));
  const weight = totals({ nodes: event.nodes.map((one) => ({ ...one, self: Number(one.weight) })) })[node];
  const { self, weight: own } = event.nodes[node - 1];
  const share = (part, whole) => `${(part / whole * 100).toFixed(2)}%`;
  const zoomed = total[(await frameOf(page, 'main')).node];
  const n = (value) => value.toLocaleString('en-US');
  assert.equal(await text(page, '#card-name'), SCAN);
  assert.equal(await text(page, '#card-place'), 'user \u00b7 /usr/lib/store/bin/stored');
  assert.deepEqual(await page.locator('#card-numbers tr').allTextContents(), [
    `Samples${n(total[node])}${n(self)}`, `Of all${share(total[node], 6000)}${share(self, 6000)}`,
    `Of zoomed${share(total[node], zoomed)}${share(self, zoomed)}`, `Weight${n(weight)}${n(own)}`]);
  await page.mouse.move(5, 5);
  assert.equal(await page.locator('#card').isVisible(), false);
}

async function cardStaysInside(lab) {
  const page = await lab.open(serverProfile(6000), { viewport: { width: 700, height: 500 } });
  const { height } = await page.locator('#canvas').boundingBox();
  const whole = (await frames(page)).filter((frame) => frame.y + frame.height < height);
  const drawn = whole.sort((a, b) => b.x + b.y - a.x - a.y);
  for (const frame of [...drawn.slice(0, 20), ...drawn.slice(-20)]) {
    await hoverFrame(page, frame);
    const box = await page.locator('#card').boundingBox();
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 700 && box.y + box.height <= 500, `${frame.label}: ${JSON.stringify(box)}`);
  }
}

async function pin(page, label) {
  await clickFrame(page, await frameOf(page, label), { button: 'right' });
  assert.equal(await page.locator('#actions').isVisible(), true);
}

async function copy(lab) {
  const page = await lab.open(serverProfile(3000));
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (words) => { window.copied = words; } } });
  });
  await pin(page, SCAN);
  await page.click('[data-action=copy]');
  assert.equal(await page.evaluate(() => window.copied), SCAN);
  assert.equal(await page.locator('#card').isVisible(), false);
}

async function searchForIt(lab) {
  const page = await lab.open(serverProfile(6000));
  await pin(page, SCAN);
  await page.click('[data-action=search]');
  assert.equal(await page.locator('#search').inputValue(), SCAN);
  assert.ok((await frames(page)).every((frame) => frame.matched === (frame.label === SCAN)));
  assert.match(await text(page, '#share'), /^exactly this: /);
  await page.locator('#search').press('End');
  await page.locator('#search').press('Backspace');
  assert.doesNotMatch(await text(page, '#share'), /^exactly/, 'typing makes it a search again');
}

async function focusFunction(lab) {
  const page = await lab.open(serverProfile(6000));
  const before = (await frames(page)).filter((frame) => frame.label === HEAP).sort((a, b) => b.samples - a.samples);
  await pin(page, HEAP);
  await page.click('[data-action=focus]');
  const [widest] = (await frames(page)).filter((frame) => frame.label === HEAP).sort((a, b) => b.width - a.width);
  assert.equal(widest.node, before[0].node);
  assert.equal(widest.matched, true);
  near(widest.width, (await frameOf(page, 'all')).width, 'fills the width', 0.01);
}

async function pinnedStays(lab) {
  const page = await lab.open(serverProfile(3000));
  await pin(page, SCAN);
  await page.mouse.move(400, 400);
  assert.equal(await text(page, '#card-name'), SCAN, 'a pinned card does not follow the pointer');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#card').isVisible(), false);
  await pin(page, SCAN);
  await page.click('#title');
  assert.equal(await page.locator('#card').isVisible(), false);
}

// ---- keys ----------------------------------------------------------------------------------------

function smallTree() {
  const frames = ['t1', 'b', 'a', 'c', 'deep', 't2', 'unseen']
    .map((label) => ({ label, kind: label[0] === 't' ? COMM : 0, module: 'm' }));
  const nodes = [[0, 0, 0], [1, 1, 50], [1, 2, 100], [1, 3, 70], [3, 4, 80], [0, 5, 40], [1, 6, 0]]
    .map(([parent, frame, self]) => ({ parent, frame, self }));
  return { frames, events: [{ name: 'x', nodes }] };
}

// Keys, each with the name of the frame that is to have the focus after it.
async function follow(page, steps) {
  for (const [key, label] of steps) {
    await page.keyboard.press(key);
    assert.ok((await focused(page)).startsWith(label + ','), `after ${key}: ${await focused(page)}, not ${label}`);
  }
}

async function keys(lab) {
  const page = await lab.open(smallTree());
  await page.focus('#canvas');
  await follow(page, [['ArrowDown', 't1'], ['ArrowDown', 'a'], ['ArrowLeft', 'a'], ['ArrowRight', 'b'], ['ArrowRight', 'c'],
    ['ArrowRight', 'c'], ['ArrowLeft', 'b'], ['ArrowDown', 'b'], ['ArrowLeft', 'a'], ['ArrowDown', 'deep'], ['ArrowUp', 'a'],
    ['ArrowUp', 't1'], ['ArrowRight', 't2'], ['ArrowUp', 'all'], ['ArrowUp', 'all']]);
  assert.equal(await page.locator('#focus').isVisible(), true, 'the focus is seen');
  await follow(page, [['ArrowDown', 't1'], ['ArrowDown', 'a']]);
  assert.equal(await focused(page), 'a, user \u00b7 m, 180 samples, 52.94%, self 100');
  const ring = await page.locator('#focus').boundingBox();
  const [x] = await middle(page, await frameOf(page, 'a'));
  near(ring.x + ring.width / 2, x, 'the ring is around the frame', 1);
  await page.keyboard.press('Enter');
  near((await frameOf(page, 'a')).width, (await frameOf(page, 'all')).width, 'Enter zooms', 0.01);
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => window.perfev.zoom), 0, 'Escape resets');
}

async function keysFlipped(lab) {
  const page = await lab.open(smallTree());
  await page.click('#flip');
  await page.focus('#canvas');
  await follow(page, [['ArrowUp', 't1'], ['ArrowUp', 'a'], ['ArrowDown', 't1'], ['ArrowDown', 'all']]);
}

async function keysToActions(lab) {
  const page = await lab.open(smallTree());
  await page.focus('#canvas');
  await follow(page, [['ArrowDown', 't1'], ['ArrowDown', 'a']]);
  await page.keyboard.press(' ');
  assert.equal(await page.evaluate(() => document.activeElement.dataset.action), 'copy');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#search').inputValue(), 'a');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'canvas');
  await page.keyboard.press(' ');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#card').isVisible(), false);
  assert.equal(await page.evaluate(() => document.activeElement.id), 'canvas');
}

async function pageKeys(lab) {
  const page = await lab.open(smallTree());
  await page.keyboard.press('?');
  assert.equal(await page.locator('#help').isVisible(), true);
  assert.match(await page.locator('#help').innerText(), /Enter[^]*Esc[^]*\/[^]*\?/);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#help').isVisible(), false);
  await page.keyboard.press('/');
  await page.keyboard.type('b?/');
  assert.equal(await page.locator('#search').inputValue(), 'b?/', 'keys are text in the search box');
  assert.equal(await page.locator('#help').isVisible(), false);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#search').inputValue(), '');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'canvas');
}

// Every control can be reached, has a name, and the graph is one of them.
async function tabOrder(lab) {
  const page = await lab.open(serverProfile(500));
  const seen = [];
  for (let i = 0; i < 24; i++) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate(() => {
      const { id, ariaLabel, textContent, labels } = document.activeElement;
      return [id, (ariaLabel || textContent || (labels && labels[0] && labels[0].textContent) || '').trim()];
    }));
  }
  assert.ok(seen.every(([, name]) => name !== ''), JSON.stringify(seen));
  for (const id of ['event', 'theme', 'help-button', 'search', 'flip', 'canvas', 'filter', 'by-self', 'by-module']) {
    assert.ok(seen.some(([found]) => found === id), `${id} is reached by Tab`);
  }
  assert.match(await page.locator('#canvas').getAttribute('aria-label'), /cycles, 500 samples/);
}

// ---- touch ---------------------------------------------------------------------------------------

async function tapFrame(page, label) {
  await page.touchscreen.tap(...await middle(page, await frameOf(page, label)));
}

async function taps(lab) {
  const page = await lab.open(serverProfile(3000), PHONE);
  await tapFrame(page, 'main');
  assert.equal(await text(page, '#card-name'), 'main');
  assert.equal(await page.evaluate(() => window.perfev.zoom), 0, 'the first tap does not zoom');
  await tapFrame(page, '_start');
  assert.equal(await text(page, '#card-name'), '_start', 'a tap elsewhere shows that one');
  await tapFrame(page, '_start');
  near((await frameOf(page, '_start')).width, (await frameOf(page, 'all')).width, 'the second tap zooms', 0.01);
  assert.equal(await page.locator('#card').isVisible(), false);
  await tapFrame(page, 'main');
  await page.tap('[data-action=search]');
  assert.match(await text(page, '#share'), /^exactly this/);
  await page.tap('#reset');
  assert.equal(await page.evaluate(() => window.perfev.zoom), 0);
}

export const cases = [
  ['input: card with exact numbers', cardNumbers],
  ['input: card stays in the window', cardStaysInside],
  ['input: copy the name', copy],
  ['input: search for a frame', searchForIt],
  ['input: focus a function', focusFunction],
  ['input: pinned card', pinnedStays],
  ['input: keys move, zoom and reset', keys],
  ['input: keys in the flipped graph', keysFlipped],
  ['input: keys to the actions', keysToActions],
  ['input: / ? and Escape', pageKeys],
  ['input: everything is reached by Tab and has a name', tabOrder],
  ['input: taps', taps],
];
