// SPDX-License-Identifier: MIT
//
// Whole report pages, as the exporter writes them: head, base64, tail. Invariant: head and tail come
// from viewer/build.py, run once.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const BUILD = fileURLToPath(new URL('../../viewer/build.py', import.meta.url));

let pieces = null;

function buildPieces() {
  const folder = mkdtempSync(join(tmpdir(), 'perfev-page-'));
  try {
    execFileSync('python3', [BUILD, '--html', join(folder, 'page')]);
    return ['head', 'tail'].map((end) => readFileSync(join(folder, 'page.' + end), 'latin1'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function buildPage(profile) {
  pieces ??= buildPieces();
  return pieces[0] + Buffer.from(profile).toString('base64') + pieces[1];
}

// The bytes of the profile in a page.
export function profileOf(page) {
  const found = /<script type="application\/octet-stream" id="profile">([^<]*)<\/script>/.exec(page);
  return found && Buffer.from(found[1], 'base64');
}
