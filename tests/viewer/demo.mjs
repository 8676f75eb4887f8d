// SPDX-License-Identifier: MIT
//
// Writes a report with a made-up profile, to look at: node demo.mjs OUT.html [server|random|deep|empty|bad].

import { writeFileSync } from 'node:fs';
import { buildPage } from './pages.mjs';
import { encode } from './encode.mjs';
import { randomProfile, serverProfile } from './generate.mjs';

const KINDS = {
  server: () => encode(serverProfile()),
  random: () => encode(randomProfile({ count: 100000, labels: 20000 })),
  deep: () => encode(randomProfile({ count: 5000, labels: 300, deep: 0.95 })),
  empty: () => encode({ title: 'nothing', events: [{ name: 'cycles' }] }),
  bad: () => encode(serverProfile()).subarray(0, 5000),
};

const [out, kind = 'server'] = process.argv.slice(2);
if (!out || !KINDS[kind]) {
  console.error('usage: node demo.mjs OUT.html [' + Object.keys(KINDS).join('|') + ']');
  process.exit(2);
}
writeFileSync(out, buildPage(KINDS[kind]()));
