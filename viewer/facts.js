// SPDX-License-Identifier: MIT
//
// The parts of the page that are written once: title, facts, modules without names, legend; and the
// two texts that stand where the graph would be when there is nothing to draw. Invariant: all of them
// take the profile as it is and keep nothing.

const FACTS_OPEN = 6;

function writeTitle(title) {
  byId('title').textContent = document.title = shown(title || 'perfev report');
}

function writeFacts(facts) {
  const few = facts.length <= FACTS_OPEN;
  byId('facts').hidden = facts.length === 0;
  byId('facts').open = few && innerWidth > 700;
  byId('facts').classList.toggle('few', few);
  byId('facts-count').textContent = `Recording (${plural(facts.length, 'fact', 'facts')})`;
  byId('facts-list').replaceChildren(...facts.map(({ name, value }) => make('div', {},
    make('dt', {}, make('bdi', { textContent: shown(name) })),
    make('dd', {}, make('bdi', { textContent: value === '' ? '\u2013' : shown(value) })))));
}

function moduleRow({ module, why, samples }) {
  return make('tr', {},
    make('td', { className: 'number', textContent: counted(samples) }),
    make('td', {}, make('b', {}, make('bdi', { textContent: shown(module) })),
      make('bdi', { className: 'why', textContent: shown(why) })));
}

function writeModules(modules) {
  const samples = modules.reduce((sum, module) => sum + module.samples, 0);
  const sorted = [...modules].sort((a, b) => b.samples - a.samples || compareText(a.module, b.module));
  byId('unnamed').hidden = modules.length === 0;
  byId('unnamed-count').textContent = plural(modules.length, 'module', 'modules') + ' without names (' +
    plural(samples, 'sample', 'samples') + ')';
  byId('unnamed-rows').replaceChildren(...sorted.map(moduleRow));
}

function writeLegend(palette) {
  const entries = [['user', palette.kind[0]], ['kernel', palette.kind[1]], ['inlined', palette.kind[INLINED]],
    ['thread', palette.kind[COMM]], ['found', palette.mark]];
  byId('legend').replaceChildren(...entries.map(([text, color]) => {
    const dot = make('i', { className: 'dot' });
    dot.style.backgroundColor = color;
    return make('li', {}, dot, text);
  }));
}

function writeEmpty(event) {
  byId('empty-title').textContent = 'No samples';
  byId('empty-text').textContent = event
    ? `The event \u201c${shown(event.name)}\u201d was recorded, but it took no sample. A program that sleeps or ends at once ` +
      'is rarely seen: record for longer, with a higher rate (-F), or another event (-e).'
    : 'The recording holds no event that takes samples.';
}

function writeError(text) {
  writeTitle('');
  byId('empty').hidden = false;
  byId('views').hidden = byId('facts').hidden = true;
  byId('empty').setAttribute('role', 'alert');
  byId('empty-title').textContent = 'This report cannot be shown';
  byId('empty-text').textContent = `Cannot read the profile in this file: ${text}. The file was cut or ` +
    'changed, or this is the page without a profile; write it again with perfev report --html FILE.';
}
