// SPDX-License-Identifier: MIT
//
// The table of functions: its numbers against model.mjs, its order, its filter, and the way from a row
// to the graph.

import assert from 'node:assert/strict';
import { COMM, INLINED } from '../encode.mjs';
import { randomProfile, serverProfile } from '../generate.mjs';
import { functions } from '../model.mjs';
import { frames, text } from '../browser.mjs';

function listed(page) {
  return page.evaluate(() => window.perfev.functions());
}

function byName(list) {
  return [...list].sort((a, b) => (a.name + a.module < b.name + b.module ? -1 : 1));
}

async function numbers(lab, profile) {
  const page = await lab.open(profile);
  const expected = functions(profile, profile.events[0]).filter((entry) => entry.total > 0);
  assert.deepEqual(byName(await listed(page)), byName(expected));
}

async function recursion(lab) {
  const frames = [{ label: 't', kind: COMM }, { label: 'f', module: 'm' }, { label: 'g', module: 'm' }, { label: 'f', module: 'm', kind: INLINED },
    { label: 'f', module: 'other' }, { label: 't', module: '' }];
  // t > f > g > f > f(inlined) > f(other) > t(function)
  const nodes = frames.map((_, i) => ({ parent: i, frame: [0, 1, 2, 1, 3, 4][i], self: i + 1 }));
  nodes.push({ parent: 6, frame: 5, self: 10 });
  const page = await lab.open({ frames, events: [{ name: 'x', nodes }] });
  assert.deepEqual(byName(await listed(page)), [
    { name: 'f', module: 'm', self: 11, total: 30 }, { name: 'f', module: 'other', self: 6, total: 16 },
    { name: 'g', module: 'm', self: 3, total: 28 }, { name: 't', module: '', self: 10, total: 10 }]);
}

// ---- order ---------------------------------------------------------------------------------------

const ORDERS = {
  self: (a, b) => b.self - a.self,
  total: (a, b) => b.total - a.total,
  name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  module: (a, b) => (a.module < b.module ? -1 : a.module > b.module ? 1 : 0),
};

function assertOrdered(list, order, what) {
  for (let i = 1; i < list.length; i++) {
    assert.ok(order(list[i - 1], list[i]) <= 0, `${what}: ${JSON.stringify(list.slice(i - 1, i + 1))}`);
  }
}

async function assertHeads(page, column, state) {
  for (const one of Object.keys(ORDERS)) {
    assert.equal(await page.locator(`th:has(#by-${one})`).getAttribute('aria-sort'), one === column ? state : 'none');
  }
}

async function sorting(lab) {
  const page = await lab.open(serverProfile(4000));
  await assertHeads(page, 'self', 'descending');
  const { self, total, name } = ORDERS;
  assertOrdered(await listed(page), (a, b) => self(a, b) || total(a, b) || name(a, b), 'at first');
  for (const [column, order] of Object.entries(ORDERS).reverse()) {
    const first = ['self', 'total'].includes(column) ? 'descending' : 'ascending';
    await page.click(`#by-${column}`);
    await assertHeads(page, column, first);
    assertOrdered(await listed(page), order, column);
    await page.click(`#by-${column}`);
    await assertHeads(page, column, first === 'ascending' ? 'descending' : 'ascending');
    assertOrdered(await listed(page), (a, b) => order(b, a), `${column}, turned`);
  }
  const shown = await page.locator('#rows .name').allTextContents();
  assert.deepEqual(shown, (await listed(page)).map((entry) => entry.name), 'rows are in the order of the list');
}

async function rowTexts(lab) {
  const page = await lab.open(serverProfile(4000));
  const [first] = await listed(page);
  const cells = await page.locator('#rows tr').first().locator('td').allTextContents();
  const cell = (samples) => samples.toLocaleString('en-US') + `${(samples / 40).toFixed(2)}%`;
  assert.deepEqual(cells, [cell(first.self), cell(first.total), first.name, first.module]);
}

async function filter(lab) {
  const page = await lab.open(serverProfile(4000));
  const all = await listed(page);
  const filters = [['zstd', /zstd/i], ['^store::.*Reader', /^store::.*Reader/], ['KALLSYMS', /kallsyms/i], ['new(unsigned', /new\(unsigned/]];
  for (const [words, meaning] of filters) {
    await page.fill('#filter', words);
    const expected = all.filter((entry) => meaning.test(`${entry.name} ${entry.module}`));
    assert.ok(expected.length > 0);
    assert.deepEqual(await listed(page), expected, words);
    assert.equal(await text(page, '#function-count'), `${expected.length} function${expected.length === 1 ? '' : 's'}`);
  }
  await page.fill('#filter', 'no such thing');
  assert.equal(await page.locator('#no-rows').isVisible(), true);
  await page.press('#filter', 'Escape');
  assert.equal((await listed(page)).length, all.length);
}

// ---- from table to graph -------------------------------------------------------------------------

async function marks(lab) {
  const label = (name) => ({ label: name, module: 'm' });
  const places = [{ label: 't', kind: COMM }, label('f(int)'), label('f'), label('ff'), { label: 'f', module: 'other' }];
  const leaves = [1, 2, 3, 4].map((frame) => ({ parent: 1, frame, self: frame * 10 }));
  const nodes = [{ parent: 0, frame: 0 }, ...leaves, { parent: 4, frame: 2, self: 5 }];
  const page = await lab.open({ frames: places, events: [{ name: 'x', nodes }] });
  await page.locator('#rows tr').filter({ hasText: /%fm$/ }).locator('.name').click();
  const marked = (await frames(page)).filter((frame) => frame.matched).map((frame) => frame.node);
  assert.deepEqual(marked.sort(), [3, 6], 'exactly the function, in its module');
  assert.equal(await text(page, '#share'), 'exactly this: 23.81% \u00b7 25 samples in 2 frames');
  assert.equal(await page.locator('#rows tr.marked').count(), 1);
  await page.locator('#rows tr.marked .name').click();
  assert.ok((await frames(page)).every((frame) => !frame.matched), 'a second click takes the mark away');
}

async function manyFunctions(lab) {
  const page = await lab.open(randomProfile({ count: 60000, labels: 50000, deep: 0.1 }));
  const total = (await listed(page)).length;
  assert.ok(total > 20000);
  assert.equal(await page.locator('#rows tr').count(), 200);
  await page.click('#more');
  assert.equal(await page.locator('#rows tr').count(), 700);
  const [sort, find] = await page.evaluate(() => {
    const measure = (work) => {
      const began = performance.now();
      work();
      return Math.round(performance.now() - began);
    };
    const input = document.getElementById('filter');
    return [measure(() => document.getElementById('by-name').click()), measure(() => {
      input.value = 'ab.*7';
      input.dispatchEvent(new Event('input'));
    })];
  });
  assert.ok(sort < 5000 && find < 5000);
  return `${total} functions: sort ${sort} ms, filter ${find} ms`;
}

export const cases = [
  ['table: numbers of a server', (lab) => numbers(lab, serverProfile(4000))],
  ['table: numbers of random trees', (lab) => numbers(lab, randomProfile({ count: 3000, labels: 60, deep: 0.8, seed: 4 }))],
  ['table: recursion counts once', recursion],
  ['table: sorting', sorting],
  ['table: texts of a row', rowTexts],
  ['table: filter', filter],
  ['table: a row marks its function in the graph', marks],
  ['table: 50,000 functions', manyFunctions],
];
