// SPDX-License-Identifier: MIT
//
// The decoder: every field comes out as it went in, and bytes that are no profile give a sentence, not
// a broken page.

import assert from 'node:assert/strict';
import { COMM, INLINED, KERNEL, USER, encode, number } from '../encode.mjs';
import { dice, randomProfile } from '../generate.mjs';
import { frameOf, hoverFrame, text } from '../browser.mjs';
import { buildPage } from '../pages.mjs';

const FULL = {
  title: 'all fields',
  facts: [{ name: 'command', value: 'perfev record -- true' }, { name: 'lost', value: '' }],
  frames: [
    { label: 'thread', module: '', kind: COMM },
    { label: 'main', module: '/bin/x', kind: USER },
    { label: 'small', module: '/bin/x', kind: INLINED },
    { label: '[kernel]', module: '[kernel.kallsyms]', kind: KERNEL, unnamed: true },
  ],
  events: [
    { name: 'cycles', samples: 20, weight: 1000n, nodes: [
      { parent: 0, frame: 0, self: 1, weight: 11n }, { parent: 1, frame: 1, self: 2, weight: 300n },
      { parent: 2, frame: 2, self: 5, weight: 1n }, { parent: 1, frame: 3, self: 7, weight: 0n }] },
    { name: 'faults', samples: 0, weight: 0n, nodes: [] },
  ],
  modules: [{ module: '/lib/y.so', why: 'no symbol table', samples: 3 }, { module: '[x]', why: '', samples: 0 }],
};

// window.perfev.profile in the form that encode() takes.
function decoded(page) {
  return page.evaluate(() => {
    const { title, facts, frames, events, modules } = window.perfev.profile;
    return {
      title, facts, modules,
      frames: frames.label.map((label, i) =>
        ({ label, module: frames.module[i], kind: frames.kind[i], unnamed: frames.unnamed[i] === 1 })),
      events: events.map((event) => ({
        name: event.name, samples: event.samples, weight: event.weight,
        nodes: Array.from({ length: event.count - 1 }, (_, i) => ({
          parent: event.parent[i + 1], frame: event.frame[i + 1], self: event.self[i + 1], weight: event.selfWeight[i + 1],
        })),
      })),
    };
  });
}

async function roundTrip(lab, profile) {
  const page = await lab.open(profile);
  const frames = profile.frames.map((frame) => ({ unnamed: false, ...frame }));
  assert.deepEqual(await decoded(page), { ...profile, frames });
  return page;
}

async function allFields(lab) {
  const page = await roundTrip(lab, FULL);
  const root = await page.evaluate(() => window.perfev.profile.events[0].self[0]);
  assert.equal(root, 5, 'samples without a frame are those of the root');
}

const LARGE = [127n, 128n, 16383n, 16384n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 49n - 1n, 2n ** 49n, 2n ** 53n - 1n,
  2n ** 53n + 1n, 2n ** 56n + 3n, 2n ** 63n, 2n ** 64n - 1n];

async function largeNumbers(lab) {
  const nodes = LARGE.map((weight, i) => ({ parent: i === 0 ? 0 : 1, frame: i === 0 ? 0 : 1, self: 2 ** 33 + i, weight }));
  const samples = nodes.reduce((sum, node) => sum + node.self, 0);
  await roundTrip(lab, { ...FULL, events: [{ name: 'x', samples, weight: 2n ** 64n - 1n, nodes }] });
}

async function exactWeights(lab) {
  const weight = 2n ** 53n + 1n;
  const page = await lab.open({
    frames: [{ label: 'a', kind: COMM }, { label: 'b' }],
    events: [{ name: 'x', samples: 2 ** 52, nodes: [
      { parent: 0, frame: 0, self: 1, weight }, { parent: 1, frame: 1, self: 2 ** 51, weight: weight + 1n }] }],
  });
  await hoverFrame(page, await frameOf(page, 'a'));
  const rows = await page.locator('#card-numbers tr').allTextContents();
  assert.deepEqual(rows, ['Samples2,251,799,813,685,2491', 'Of all50.00%<0.01%', 'Weight18,014,398,509,481,9879,007,199,254,740,993']);
  assert.match(await text(page, '#summary'), /18,014,398,509,481,987$/);
}

async function otherScripts(lab) {
  const labels = ['\ufeffmark first', '\u05d0\u05d1\u05d2', 'na\u00efve', '\u6f22\u5b57', '\ud83d\udd25', '\u0000zero', 'A\n\tB'];
  const frames = labels.map((label) => ({ label, module: label, kind: USER }));
  const nodes = labels.map((_, frame) => ({ parent: 0, frame, self: 1, weight: 1n }));
  await roundTrip(lab, { title: labels.join(), facts: [], frames, modules: [],
    events: [{ name: labels[4], samples: labels.length, weight: 9n, nodes }] });
}

async function brokenUtf8(lab) {
  const bytes = encode({ title: 'title', frames: [{ label: 'XX', kind: USER }], events: [{ name: 'e', nodes: [{ parent: 0, frame: 0, self: 1 }] }] });
  bytes[bytes.indexOf('XX')] = 0xff;
  const page = await lab.open(bytes);
  assert.equal((await frameOf(page, '\ufffdX')).samples, 1);
}

// ---- damage ------------------------------------------------------------------------------------

const NODE = { parent: 0, frame: 0, self: 1 };
const ONE = { title: 't', frames: [{ label: 'f' }], events: [{ name: 'e', nodes: [NODE] }] };

function withEvent(event) {
  return encode({ ...ONE, events: [{ name: 'e', ...event }] });
}

const DAMAGED = {
  'no bytes': [Buffer.alloc(0), /does not start with PEVP, at byte 0 of 0/],
  'another magic': [Buffer.from('PEVQ\x01'), /does not start with PEVP/],
  'a later version': [Buffer.from('PEVP\x02'), /has version 2 and this page reads version 1, at byte 4 of 5/],
  'nothing after the version': [Buffer.from('PEVP\x01'), /ends inside the number of strings/],
  'too many strings': [Buffer.from([...Buffer.from('PEVP\x01'), ...number(2n ** 40n)]), /strings are more than the data can hold/],
  'a number that is too long': [Buffer.from([...Buffer.from('PEVP\x01'), ...Array(10).fill(255), 1]), /has more than 64 bits/],
  'a number above 64 bits': [Buffer.from([...Buffer.from('PEVP\x01'), ...Array(9).fill(255), 2]), /has more than 64 bits/],
  'a frame that is not there': [withEvent({ nodes: [{ ...NODE, frame: 1 }] }), /the frame of a node is 1, not below 1/],
  'a node that is its own parent': [withEvent({ nodes: [{ ...NODE, parent: 1 }] }), /node 1 has the distance 0/],
  'a parent before the root': [withEvent({ nodes: [{ ...NODE, parent: -4 }] }), /node 1 has the distance 5/],
  'an unknown kind': [encode({ ...ONE, frames: [{ label: 'f', kind: 4 }] }), /the kind of a frame is 4, not below 4/],
  'more samples in nodes': [withEvent({ samples: 1, nodes: [{ ...NODE, self: 2 }] }), /have 2 samples and the event has 1/],
  'bytes behind the end': [Buffer.concat([encode(ONE), Buffer.from([0])]), /more data behind the end/],
};

async function damaged(lab, [bytes, expected]) {
  const page = await lab.open(bytes);
  assert.match(await page.evaluate(() => window.perfev.error), expected);
  assert.match(await page.locator('[role=alert]').innerText(), expected);
  assert.equal(await page.locator('#main').isVisible(), false);
  await page.click('#theme');
  await page.evaluate(() => { window.perfev.search('x'); window.perfev.reset(); window.perfev.frames(); });
}

async function notBase64(lab) {
  const html = buildPage(encode(ONE)).replace(/(id="profile">)[^<]*/, '$1%%%');
  const page = await lab.open({ html });
  assert.match(await page.evaluate(() => window.perfev.error), /not base64/);
}

async function cuts(lab) {
  const bytes = encode(FULL);
  for (let size = 5; size < bytes.length; size += 9) {
    const page = await lab.open(bytes.subarray(0, size));
    assert.ok(await page.evaluate(() => window.perfev.error), `cut to ${size} bytes`);
    await lab.check();
  }
}

async function changedBytes(lab) {
  const random = dice(5);
  const whole = encode(randomProfile({ count: 60, labels: 12 }));
  let refused = 0;
  for (let i = 0; i < 40; i++) {
    const bytes = Buffer.from(whole);
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    const page = await lab.open(bytes);
    const [error, shown] = await page.evaluate(() =>
      [window.perfev.error, document.getElementById('empty-text').textContent]);
    assert.equal(error !== null, shown.startsWith('Cannot read'), 'an error is shown, and only an error');
    refused += error === null ? 0 : 1;
    await lab.check();
  }
  return `${refused} of 40 refused`;
}

export const cases = [
  ['decode: all fields', allFields],
  ['decode: numbers up to 64 bits', largeNumbers],
  ['decode: weights above 2^53 are shown exactly', exactWeights],
  ['decode: names in any script', otherScripts],
  ['decode: broken UTF-8', brokenUtf8],
  ...Object.entries(DAMAGED).map(([name, damage]) => [`decode: refuses ${name}`, (lab) => damaged(lab, damage)]),
  ['decode: refuses what is not base64', notBase64],
  ['decode: refuses cut data', cuts],
  ['decode: survives changed bytes', changedBytes],
];
