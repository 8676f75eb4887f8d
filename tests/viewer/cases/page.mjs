// SPDX-License-Identifier: MIT
//
// The page as a whole: how it is built, its policy, hostile names, facts, events, and what it says
// when there is nothing to draw.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMM, INLINED, KERNEL, encode } from '../encode.mjs';
import { serverProfile } from '../generate.mjs';
import { BUILD, buildPage, profileOf } from '../pages.mjs';
import { assertFits, frameOf, frames, hoverFrame, text } from '../browser.mjs';

const KB = 1024;

function arrayOf(source, name) {
  return Buffer.from(new RegExp(`const char ${name}\\[\\] = \\{([^}]*)\\}`).exec(source)[1].split(',').map(Number));
}

async function built() {
  const folder = mkdtempSync(join(tmpdir(), 'perfev-build-'));
  try {
    const outputs = ['a.c', 'b.c'].map((name) => {
      execFileSync('python3', [BUILD, join(folder, name)]);
      return readFileSync(join(folder, name), 'latin1');
    });
    assert.equal(outputs[0], outputs[1], 'the same sources give the same file');
    const whole = buildPage(Buffer.alloc(0));
    const joined = arrayOf(outputs[0], 'viewer_head').toString('latin1') + arrayOf(outputs[0], 'viewer_tail').toString('latin1');
    assert.equal(joined, whole, 'the C arrays hold the same page');
    assert.ok(whole.length < 100 * KB, `the page has ${whole.length} bytes`);
    return `${whole.length} bytes`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function policy(lab) {
  const html = buildPage(encode(serverProfile(500)));
  const content = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)[1];
  assert.match(content, /^default-src 'none';/);
  assert.doesNotMatch(content, /unsafe|https?:|\*/);
  for (const tag of ['style', 'script']) {
    const inside = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)[1];
    const hash = createHash('sha256').update(inside, 'latin1').digest('base64');
    assert.ok(content.includes(`${tag}-src 'sha256-${hash}'`), `the hash of the ${tag}`);
  }
  const page = await lab.open({ html });
  const broken = await page.evaluate(() => new Promise((resolve) => {
    document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), { once: true });
    const script = document.createElement('script');
    script.textContent = 'window.intruder = true';
    document.body.append(script);
    setTimeout(() => resolve('nothing'), 1000);
  }));
  assert.match(broken, /^script-src/, 'the policy is in force');
  assert.equal(await page.evaluate(() => window.intruder), undefined);
  assert.equal(lab.troubles.length, 1, 'nothing but the test itself broke the policy');
  lab.troubles.length = 0;
}

function dataOf() {
  const bytes = encode(serverProfile(200));
  assert.deepEqual(profileOf(buildPage(bytes)), bytes);
}

// ---- hostile names -------------------------------------------------------------------------------

const HOSTILE = [
  '<script>window.intruder=1</script>', '<img src=x onerror="window.intruder=2">', '"><svg onload=window.intruder=3>',
  '</script><script>window.intruder=4</script>', "javascript:window.intruder=5", '&lt;b&gt;', '{{7*7}}', '__proto__', 'constructor', '',
  'a\u0000b\u001b[31mc\u0007', 'line\nfeed\r\ttab', '\u202eevorp\u202c', '\u05e9\u05dc\u05d5\u05dd(\u05d0)', '\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67',
  'std::' + 'vector<std::pair<int, '.repeat(400) + 'x', 'W'.repeat(20000), 'a'.repeat(300) + ' ' + '\u0301'.repeat(300),
];

function hostileProfile() {
  const frames = HOSTILE.map((label, i) => ({
    label, module: HOSTILE[HOSTILE.length - 1 - i], kind: i === 0 ? COMM : i % 2 ? KERNEL : INLINED, unnamed: i % 3 === 0,
  }));
  const nodes = frames.map((_, frame) => ({ parent: frame === 0 ? 0 : 1, frame, self: 5, weight: 1n }));
  return {
    title: HOSTILE[0], frames,
    facts: HOSTILE.slice(0, 6).map((name, i) => ({ name, value: HOSTILE[HOSTILE.length - 1 - i] })),
    events: HOSTILE.map((name) => ({ name, nodes })),
    modules: HOSTILE.map((module) => ({ module, why: module, samples: 1 })),
  };
}

async function hostile(lab, options) {
  const page = await lab.open(hostileProfile(), options);
  for (const frame of await frames(page)) {
    await hoverFrame(page, frame);
  }
  await page.click('#canvas', { button: 'right', position: { x: 30, y: 30 } });
  await page.evaluate(() => { document.getElementById('unnamed').open = document.getElementById('facts').open = true; });
  await assertFits(page);
  assert.equal(await page.evaluate(() => window.intruder), undefined);
  const made = await page.evaluate(() => document.querySelectorAll('#page script, #page img, #page svg[onload], #page b b').length);
  assert.equal(made, 0);
  assert.equal(await page.title(), HOSTILE[0]);
  assert.equal(await text(page, '#title'), HOSTILE[0]);
  const names = await page.locator('#rows .name').allTextContents();
  assert.ok(names.includes('a\u2400b\u241b[31mc\u2407'), 'control characters are made visible');
  assert.ok(names.includes('\\u{202e}evorp\\u{202c}'), 'marks that turn the writing are made visible');
  assert.equal(names.length, HOSTILE.length - 1);
  await page.evaluate((labels) => labels.forEach((label) => window.perfev.search(label)), HOSTILE);
}

// ---- facts, modules, events ----------------------------------------------------------------------

async function factsAndModules(lab) {
  const profile = serverProfile(500);
  const page = await lab.open(profile);
  const facts = await page.locator('#facts-list div').allTextContents();
  assert.deepEqual(facts, profile.facts.map(({ name, value }) => name + value), 'facts in their order');
  assert.equal(await page.locator('#facts-list').isVisible(), true);
  await page.click('#unnamed summary');
  const rows = await page.locator('#unnamed-rows tr').allTextContents();
  assert.deepEqual(rows, profile.modules.map(({ module, why, samples }) => samples.toLocaleString('en-US') + module + why));
}

async function manyFacts(lab) {
  const facts = Array.from({ length: 40 }, (_, i) => ({ name: `fact ${i}`, value: `value ${i}` }));
  const page = await lab.open({ ...serverProfile(200), facts });
  assert.equal(await page.locator('#facts-list').isVisible(), false);
  await page.click('#facts summary');
  assert.equal(await page.locator('#facts-list div').nth(39).textContent(), 'fact 39value 39');
  assert.ok((await page.locator('#canvas').boundingBox()).height > 150, 'the graph keeps its place');
}

async function severalEvents(lab) {
  const profile = serverProfile(2000);
  profile.events.unshift({ name: 'first', nodes: [] });
  const page = await lab.open(profile);
  assert.equal(await page.locator('#event').inputValue(), '1', 'the first event with samples is chosen');
  assert.deepEqual(await page.locator('#event option').allTextContents(),
    ['first (no samples)', 'cycles', 'page-faults (no samples)', 'cache-misses']);
  assert.equal((await frameOf(page, 'all')).samples, 2000);
  await page.fill('#search', 'memcmp');
  const before = await text(page, '#share');
  await page.selectOption('#event', '3');
  assert.equal((await frameOf(page, 'all')).samples, 250);
  assert.notEqual(await text(page, '#share'), before, 'the share is that of the event');
  await page.selectOption('#event', '2');
  assert.equal(await page.locator('#main').isVisible(), false);
  assert.match(await text(page, '#empty-text'), /page-faults/);
  await page.selectOption('#event', '1');
  assert.equal(await page.locator('#empty').isVisible(), false);
  assert.equal((await frameOf(page, 'all')).samples, 2000);
  assert.equal(await text(page, '#share'), before);
}

async function oneEvent(lab) {
  const page = await lab.open({ ...serverProfile(200), events: serverProfile(200).events.slice(0, 1) });
  assert.equal(await page.locator('#event').isVisible(), false);
  assert.match(await text(page, '#summary'), /^cycles \u00b7 200 samples \u00b7 weight [0-9,]+$/);
}

// ---- nothing to draw -----------------------------------------------------------------------------

async function empty(lab, profile, expected) {
  const page = await lab.open({ title: 'nothing', facts: [{ name: 'kernel', value: '6.1' }], ...profile });
  assert.equal(await page.evaluate(() => window.perfev.error), null);
  assert.match(await page.locator('#empty').innerText(), expected);
  assert.equal(await page.locator('#main').isVisible(), false);
  assert.equal(await page.locator('#facts-list').isVisible(), true, 'facts stay');
  assert.deepEqual(await frames(page), []);
  for (const key of ['Escape', '/', '?', 'Escape']) {
    await page.keyboard.press(key);
  }
  await page.click('#theme');
}

async function onlyRoot(lab) {
  const page = await lab.open({ events: [{ name: 'cycles', samples: 7, weight: 7n }] });
  assert.deepEqual((await frames(page)).map(({ label, samples }) => [label, samples]), [['all', 7]]);
  assert.equal(await text(page, '#function-count'), '0 functions');
}

export const cases = [
  ['page: built the same each time, the same in C', built],
  ['page: policy in force, and nothing breaks it', policy],
  ['page: data stands between the pieces', dataOf],
  ['page: hostile names', (lab) => hostile(lab)],
  ['page: hostile names on a phone', (lab) => hostile(lab, { viewport: { width: 390, height: 844 } })],
  ['page: facts and modules without names', factsAndModules],
  ['page: many facts are folded', manyFacts],
  ['page: several events', severalEvents],
  ['page: one event', oneEvent],
  ['page: no events', (lab) => empty(lab, {}, /No samples[^]*no event/)],
  ['page: an event without samples', (lab) => empty(lab, { events: [{ name: 'cycles' }] }, /No samples[^]*cycles/)],
  ['page: samples without frames', onlyRoot],
];
