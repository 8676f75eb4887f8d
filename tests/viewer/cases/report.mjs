// SPDX-License-Identifier: MIT
//
// What must hold for any report that perfev writes. The file is opened from disk as it is; its data is
// decoded a second time, by model.mjs, and compared with what the page shows.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { encode } from '../encode.mjs';
import { serverProfile } from '../generate.mjs';
import { decode, functions, samplesWith, totals } from '../model.mjs';
import { buildPage, profileOf } from '../pages.mjs';
import { assertFits, clickFrame, frames, near } from '../browser.mjs';

export const sampleReport = { html: () => buildPage(encode(serverProfile(5000))) };


// Opens the report: [page, profile, the event that is shown].
async function openReport(lab, report) {
  const html = typeof report === 'string' ? readFileSync(report, 'latin1') : report.html();
  const bytes = profileOf(html);
  assert.ok(bytes, 'the file has a profile in it');
  const page = typeof report === 'string' ? await lab.openFile(report) : await lab.open({ html });
  const profile = decode(bytes);
  assert.equal(await page.evaluate(() => window.perfev.error), null);
  const event = profile.events[await page.evaluate(() => window.perfev.event)];
  assert.ok(event && event.samples > 0, 'an event with samples is shown');
  return [page, profile, event];
}

function isComm(profile, event, node) {
  return profile.frames[event.nodes[node - 1].frame].kind === 2;
}

// The widest frame that is neither the root nor a thread.
async function widestFrame(page, profile, event) {
  const found = (await frames(page)).filter(({ node }) => node > 0 && !isComm(profile, event, node));
  assert.ok(found.length > 0, 'functions are drawn');
  return found.reduce((best, frame) => (frame.width > best.width ? frame : best));
}

async function opens(lab, report) {
  const [page, profile, event] = await openReport(lab, report);
  assert.match(page.url(), /^file:/);
  assert.equal(await page.locator('#canvas').isVisible(), true);
  const [root] = await frames(page);
  assert.deepEqual([root.label, root.samples], ['all', event.samples]);
  assert.equal(await page.evaluate(() => window.perfev.profile.title), profile.title);
  await assertFits(page);
  return `${event.samples} samples, ${event.nodes.length} nodes, ${profile.frames.length} frames`;
}

async function tableRight(lab, report) {
  const [page, profile, event] = await openReport(lab, report);
  const order = (a, b) => (a.name + '\0' + a.module < b.name + '\0' + b.module ? -1 : 1);
  const shown = await page.evaluate(() => window.perfev.functions());
  assert.deepEqual(shown.sort(order), functions(profile, event).filter((entry) => entry.total > 0).sort(order));
}

// The widest frame is the function with the greatest total, but for one case: the greatest is spread
// over several places, none of which is as wide.
async function widest(lab, report) {
  const [page, profile, event] = await openReport(lab, report);
  const frame = await widestFrame(page, profile, event);
  const total = totals(event);
  const most = event.nodes.reduce((best, _, i) => (isComm(profile, event, i + 1) ? best : Math.max(best, total[i + 1])), 0);
  assert.equal(frame.samples, most, 'no frame has more samples than the widest');
  const list = functions(profile, event).sort((a, b) => b.total - a.total);
  const { label, module } = profile.frames[event.nodes[frame.node - 1].frame];
  const own = list.find((entry) => entry.name === label && entry.module === module);
  if (own.total === list[0].total) {
    return label;
  }
  const places = event.nodes.filter((node) => profile.frames[node.frame].label === list[0].name);
  assert.ok(places.length > 1 && list[0].total > most, `${list[0].name} has the greatest total, ${label} the widest frame`);
  return `${label}; the total of ${list[0].name} is greater, in ${places.length} places`;
}

async function searchMarks(lab, report) {
  const [page, profile, event] = await openReport(lab, report);
  const frame = await widestFrame(page, profile, event);
  const query = frame.label.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  await page.fill('#search', query);
  const after = await frames(page);
  assert.equal(after.find(({ node }) => node === frame.node).matched, true);
  const matches = (label) => new RegExp(query, 'i').test(label);
  assert.ok(after.every(({ node, label, matched }) => matched === (node > 0 && matches(label))));
  const expected = samplesWith(profile, event, ({ label }) => matches(label));
  const share = await page.locator('#share').innerText();
  assert.ok(share.includes(expected.toLocaleString('en-US') + ' sample'), `${share}: ${expected} samples match`);
}

async function zoomAndReset(lab, report) {
  const [page, profile, event] = await openReport(lab, report);
  const before = await frames(page);
  const frame = await widestFrame(page, profile, event);
  await clickFrame(page, frame);
  const zoomed = (await frames(page)).find(({ node }) => node === frame.node);
  near(zoomed.width, before[0].width, 'the frame fills the width', 0.01);
  await page.keyboard.press('Escape');
  assert.deepEqual(await frames(page), before, 'as before');
}

const CASES = {
  'opens from disk, quietly': opens, 'table': tableRight, 'widest frame': widest, 'search': searchMarks, 'zoom and reset': zoomAndReset,
};

// Cases for a report: the path of a file, or sampleReport.
export function reportCases(report) {
  return Object.entries(CASES).map(([name, work]) => [`report: ${name}`, (lab) => work(lab, report)]);
}
