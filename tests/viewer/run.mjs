// SPDX-License-Identifier: MIT
//
// Runs the tests of the report page:  node run.mjs [--page FILE.html] [WORD...]
// With --page only what must hold for any report, on that one. WORDs choose tests by name.
// Invariant: a line for each test, and at the end "N passed, N failed, N skipped"; exit code 0 only
// if none failed.

import { resolve } from 'node:path';
import { Lab } from './browser.mjs';
import { cases as decodeCases } from './cases/decode.mjs';
import { cases as graphCases } from './cases/graph.mjs';
import { cases as inputCases } from './cases/input.mjs';
import { cases as looksCases } from './cases/looks.mjs';
import { cases as pageCases } from './cases/page.mjs';
import { cases as sizeCases } from './cases/size.mjs';
import { cases as tableCases } from './cases/table.mjs';
import { reportCases, sampleReport } from './cases/report.mjs';

function readArguments(words) {
  const at = words.indexOf('--page');
  if (at < 0) {
    return { page: null, words };
  }
  if (at + 1 === words.length) {
    console.error('usage: node run.mjs [--page FILE.html] [WORD...]');
    process.exit(2);
  }
  return { page: resolve(words[at + 1]), words: [...words.slice(0, at), ...words.slice(at + 2)] };
}

function chooseCases({ page, words }) {
  const all = page ? reportCases(page) : [...decodeCases, ...pageCases, ...graphCases, ...inputCases, ...tableCases,
    ...looksCases, ...sizeCases, ...reportCases(sampleReport)];
  return all.filter(([name]) => words.every((word) => name.includes(word)));
}

async function runCase(lab, work) {
  let problem = null;
  let note;
  try {
    note = await work(lab);
  } catch (error) {
    problem = error;
  }
  try {
    await lab.check();
  } catch (error) {
    problem = problem ?? error;
  }
  return { problem, note };
}

async function runAll(lab, cases) {
  let failed = 0;
  for (const [name, work] of cases) {
    const { problem, note } = await runCase(lab, work);
    if (problem) {
      failed++;
      console.log(`FAIL ${name}: ${problem.stack}`);
    } else {
      console.log(`ok   ${name}${note ? ` (${note})` : ''}`);
    }
  }
  return failed;
}

const cases = chooseCases(readArguments(process.argv.slice(2)));
const { lab, reason } = await Lab.start();
if (reason) {
  cases.forEach(([name]) => console.log(`skip ${name}: ${reason}`));
  console.log(`0 passed, 0 failed, ${cases.length} skipped`);
} else {
  const failed = await runAll(lab, cases);
  await lab.stop();
  console.log(`${cases.length - failed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed > 0 ? 1 : 0;
}
