// SPDX-License-Identifier: MIT
//
// A browser for tests, and what tests do with a page. Invariant: every page opened here is watched;
// check() fails if one of them wrote an error or a warning to the console, broke its policy, or asked
// for anything but its own file.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encode } from './encode.mjs';
import { buildPage } from './pages.mjs';

const CHROMIUM = process.env.CHROMIUM || '/usr/bin/chromium';
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];
export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

// Returns { browser } or { reason }.
async function launch() {
  let chromium;
  try {
    ({ chromium } = await import('playwright-core'));
  } catch {
    return { reason: 'playwright-core is not installed; run npm ci in tests/viewer' };
  }
  if (!existsSync(CHROMIUM)) {
    return { reason: `there is no browser at ${CHROMIUM}; install chromium or set CHROMIUM` };
  }
  return { browser: await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS }) };
}

export class Lab {
  static async start() {
    const { browser, reason } = await launch();
    return reason ? { reason } : { lab: new Lab(browser) };
  }

  constructor(browser) {
    this.browser = browser;
    this.folder = mkdtempSync(join(tmpdir(), 'perfev-viewer-'));
    this.troubles = [];
    this.contexts = [];
    this.pages = 0;
  }

  // Opens a report: of a profile, of bytes, or { html }. The page does not move unless `motion`.
  async open(profile, { motion = false, ...options } = {}) {
    const file = join(this.folder, `page${this.pages++}.html`);
    const bytes = Buffer.isBuffer(profile) ? profile : profile.html === undefined ? encode(profile) : null;
    writeFileSync(file, bytes ? buildPage(bytes) : profile.html, 'latin1');
    return this.openFile(file, { reducedMotion: motion ? 'no-preference' : 'reduce', ...options });
  }

  async openFile(file, options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
    this.contexts.push(context);
    const page = await context.newPage();
    const url = pathToFileURL(file).href;
    this.watch(page, url);
    await page.goto(url);
    await page.evaluate(() => window.perfev.ready.then(() => null));
    return page;
  }

  watch(page, url) {
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) {
        this.troubles.push(`console ${message.type()}: ${message.text()}`);
      }
    });
    page.on('pageerror', (error) => this.troubles.push(`uncaught: ${error.message}`));
    page.on('request', (request) => {
      if (request.url() !== url && !request.url().startsWith('data:')) {
        this.troubles.push(`request: ${request.url()}`);
      }
    });
  }

  // After each test: closes its pages and fails if they gave trouble.
  async check() {
    const troubles = this.troubles;
    this.troubles = [];
    await Promise.all(this.contexts.map((context) => context.close()));
    this.contexts = [];
    assert.deepEqual(troubles, []);
  }

  async stop() {
    await this.browser.close();
    rmSync(this.folder, { recursive: true });
  }
}

// ---- what tests do with a page -------------------------------------------------------------------

export function frames(page) {
  return page.evaluate(() => window.perfev.frames());
}

// The widest frame with this label.
export async function frameOf(page, label) {
  const found = (await frames(page)).filter((frame) => frame.label === label).sort((a, b) => b.width - a.width);
  assert.ok(found.length > 0, `the frame ${label} is drawn`);
  return found[0];
}

// The middle of a frame in the window.
export async function middle(page, frame) {
  const canvas = await page.locator('#canvas').boundingBox();
  return [canvas.x + frame.x + frame.width / 2, canvas.y + frame.y + frame.height / 2];
}

export async function clickFrame(page, frame, options = {}) {
  await page.mouse.click(...await middle(page, frame), options);
}

export async function hoverFrame(page, frame) {
  await page.mouse.move(...await middle(page, frame));
}

export function text(page, selector) {
  return page.locator(selector).textContent();
}

export function near(actual, expected, what, within = 0.51) {
  assert.ok(Math.abs(actual - expected) <= within, `${what}: ${actual} is not near ${expected}`);
}

// Nothing may be wider than the window.
export async function assertFits(page, what = 'page') {
  const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(content <= window, `${what}: ${content} pixels in a window of ${window}`);
}

// Colours of the canvas in a rectangle of CSS pixels: a list of [red, green, blue]. From a copy, for the browser warns of reading what is drawn on.
export function pixels(page, x, y, width = 1, height = 1) {
  return page.evaluate(([left, top, columns, rows]) => {
    const copy = Object.assign(document.createElement('canvas'), { width: columns, height: rows });
    const context = copy.getContext('2d', { willReadFrequently: true });
    const canvas = document.getElementById('canvas');
    context.drawImage(canvas, -left, -top, canvas.width / devicePixelRatio, canvas.height / devicePixelRatio);
    const { data } = context.getImageData(0, 0, columns, rows);
    return Array.from({ length: data.length / 4 }, (_, i) => [...data.slice(4 * i, 4 * i + 3)]);
  }, [Math.round(x), Math.round(y), Math.floor(width), Math.floor(height)]);
}
