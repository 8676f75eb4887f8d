// SPDX-License-Identifier: MIT
//
// Themes, contrast, and windows of all sizes.

import assert from 'node:assert/strict';
import { serverProfile } from '../generate.mjs';
import { PHONE, assertFits, frameOf, frames, pixels, text } from '../browser.mjs';

function theme(page) {
  return page.evaluate(() => [window.perfev.theme(), getComputedStyle(document.body).backgroundColor]);
}

async function themes(lab) {
  const page = await lab.open(serverProfile(500), { colorScheme: 'dark' });
  const [dark, black] = await theme(page);
  assert.equal(dark, 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.waitForFunction(() => window.perfev.theme() === 'light');
  assert.notEqual(black, (await theme(page))[1], 'the page follows the system');
  await page.click('#theme');
  assert.equal((await theme(page))[0], 'dark', 'the button switches');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.waitForTimeout(100);
  assert.equal((await theme(page))[0], 'dark', 'what was chosen stays');
  assert.equal(await page.evaluate(() => window.perfev.theme('light')), 'light');
}

// ---- contrast ------------------------------------------------------------------------------------

function luminance([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// The colour of a frame, and the pixel in it that differs most: its text.
async function inked(page, frame) {
  const all = await pixels(page, frame.x + 2, frame.y + 2, Math.min(frame.width - 4, 80), frame.height - 4);
  const [fill] = all;
  const away = (color) => color.reduce((sum, byte, i) => sum + Math.abs(byte - fill[i]), 0);
  return { fill, ink: all.reduce((best, color) => (away(color) > away(best) ? color : best)) };
}

async function readable(lab, colorScheme) {
  const page = await lab.open(serverProfile(3000), { colorScheme });
  let least = Infinity;
  for (const [words, zoom] of [['', 'all'], ['store', 'all'], ['', 'main']]) {
    await page.evaluate((query) => window.perfev.search(query), words);
    await page.evaluate((node) => window.perfev.zoomTo(node), (await frameOf(page, zoom)).node);
    for (const frame of (await frames(page)).filter(({ width }) => width > 80)) {
      const { fill, ink } = await inked(page, frame);
      const found = contrast(fill, ink);
      least = Math.min(least, found);
      assert.ok(found >= 4.5, `${colorScheme}: ${frame.label}: ${fill} under ${ink} has ${found.toFixed(2)}`);
    }
  }
  return `least contrast ${least.toFixed(1)}`;
}

async function readableText(lab, colorScheme) {
  const page = await lab.open(serverProfile(3000), { colorScheme });
  const pairs = await page.evaluate((selectors) => selectors.map((selector) => {
    const rgb = (color) => color.match(/\d+/g).slice(0, 3).map(Number);
    const { color } = getComputedStyle(document.querySelector(selector));
    return { selector, ink: rgb(color), paper: rgb(getComputedStyle(document.body).backgroundColor) };
  }), ['#summary', '#facts-list dt', '#path button', '.number', '.module', '#legend', '#unnamed summary']);
  for (const { selector, ink, paper } of pairs) {
    assert.ok(contrast(ink, paper) >= 4.5, `${selector}: ${contrast(ink, paper).toFixed(2)}`);
  }
}

// ---- sizes ---------------------------------------------------------------------------------------

async function views(page) {
  return [await page.locator('#graph').isVisible(), await page.locator('#functions').isVisible()];
}

async function phone(lab) {
  const page = await lab.open(serverProfile(3000), PHONE);
  await assertFits(page, 'graph');
  assert.deepEqual(await views(page), [true, false]);
  assert.equal(await page.locator('[data-view=both]').isVisible(), false);
  await page.tap('button[data-view=functions]');
  assert.deepEqual(await views(page), [false, true]);
  await assertFits(page, 'functions');
  await page.tap('#unnamed summary');
  await assertFits(page, 'modules');
  await page.locator('#rows .name').nth(3).tap();
  assert.deepEqual(await views(page), [true, false], 'a function leads to the graph');
  assert.ok((await frames(page)).some((frame) => frame.matched));
  await page.fill('#search', 'a very long search '.repeat(8));
  await page.tap('#facts summary');
  await page.tap('#help-button');
  await assertFits(page, 'help');
}

// What happens while the other view is seen holds when the graph comes back.
async function hiddenGraph(lab) {
  const page = await lab.open(serverProfile(3000), PHONE);
  await page.tap('button[data-view=functions]');
  await page.selectOption('#event', '2');
  const node = await page.evaluate(() => {
    const { frames: { label }, events } = window.perfev.profile;
    const found = events[2].frame.findIndex((frame) => label[frame] === 'main');
    window.perfev.zoomTo(found);
    return found;
  });
  await page.tap('button[data-view=graph]');
  await page.waitForFunction(() => window.perfev.frames().length > 5);
  const drawn = await frames(page);
  assert.equal(drawn.find((frame) => frame.node === node).width, drawn[0].width);
  await page.tap('#reset');
  assert.ok((await frameOf(page, 'main')).width < drawn[0].width);
}

async function wide(lab) {
  const page = await lab.open(serverProfile(3000), { viewport: { width: 1440, height: 900 } });
  assert.deepEqual(await views(page), [true, true]);
  const { width } = await frameOf(page, 'all');
  await page.click('button[data-view=graph]');
  assert.deepEqual(await views(page), [true, false]);
  await page.waitForFunction((before) => window.perfev.frames()[0].width > before + 200, width);
  await page.click('button[data-view=functions]');
  assert.deepEqual(await views(page), [false, true]);
  await page.locator('#rows .name').first().click();
  assert.deepEqual(await views(page), [true, true]);
}

async function allSizes(lab) {
  const page = await lab.open(serverProfile(3000));
  const sizes = [[320, 480], [390, 844], [700, 500], [701, 900], [844, 390], [1099, 700], [1100, 700], [1920, 1080], [2560, 600]];
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    await assertFits(page, `${width} x ${height}`);
    await page.waitForFunction(() => Math.abs(window.perfev.frames()[0].width - document.getElementById('canvas').clientWidth) < 1);
    const { height: graph } = await page.locator('#canvas').boundingBox();
    assert.ok(graph >= 100, `${width} x ${height}: the graph has ${graph} pixels`);
  }
  assert.match(await text(page, '#legend'), /userkernelinlinedthreadfound/);
}

export const cases = [
  ['looks: light and dark', themes],
  ['looks: frames are readable in light', (lab) => readable(lab, 'light')],
  ['looks: frames are readable in dark', (lab) => readable(lab, 'dark')],
  ['looks: text is readable in light', (lab) => readableText(lab, 'light')],
  ['looks: text is readable in dark', (lab) => readableText(lab, 'dark')],
  ['looks: phone', phone],
  ['looks: a graph that is not seen', hiddenGraph],
  ['looks: wide window', wide],
  ['looks: nothing is wider than the window', allSizes],
];
