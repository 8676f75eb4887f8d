// SPDX-License-Identifier: MIT
//
// Writes profiles as viewer/FORMAT.md says, for tests. Invariant: it follows the format's text alone
// and shares nothing with the page's decoder, so that one can be checked with the other.

export const USER = 0;
export const KERNEL = 1;
export const COMM = 2;
export const INLINED = 3;

export function number(value) {
  const bytes = [];
  let rest = BigInt(value);
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return bytes;
}

class Strings {
  constructor() {
    this.list = [];
    this.known = new Map();
  }

  index(text) {
    if (!this.known.has(text)) {
      this.known.set(text, this.list.length);
      this.list.push(text);
    }
    return this.known.get(text);
  }

  bytes() {
    const parts = [Buffer.from(number(this.list.length))];
    for (const text of this.list) {
      const bytes = Buffer.from(text, 'utf8');
      parts.push(Buffer.from(number(bytes.length)), bytes);
    }
    return Buffer.concat(parts);
  }
}

function sum(items, key) {
  return items.reduce((total, item) => total + BigInt(item[key] ?? 0), 0n);
}

function encodeFrames(frames, strings) {
  return [...number(frames.length), ...frames.flatMap((frame) => [
    ...number(strings.index(frame.label)),
    ...number(strings.index(frame.module ?? '')),
    ...number(frame.kind ?? USER),
    ...number(frame.unnamed ? 1 : 0),
  ])];
}

// Nodes are { parent, frame, self, weight }; the number of a node is its place in the list + 1, and
// parent 0 is the root. Samples and weight of the event are the sums, unless they are given.
function encodeEvent(event, strings) {
  const nodes = event.nodes ?? [];
  const bytes = [
    ...number(strings.index(event.name)),
    ...number(event.samples ?? sum(nodes, 'self')),
    ...number(event.weight ?? sum(nodes, 'weight')),
    ...number(nodes.length),
  ];
  nodes.forEach((node, i) => {
    bytes.push(...number(i + 1 - node.parent), ...number(node.frame), ...number(node.self ?? 0),
      ...number(node.weight ?? 0));
  });
  return bytes;
}

// { title, facts: [{ name, value }], frames, events, modules: [{ module, why, samples }] } to bytes.
export function encode(profile) {
  const { title = 'test', facts = [], frames = [], events = [], modules = [] } = profile;
  const strings = new Strings();
  strings.index(title);
  const parts = [
    number(strings.index(title)),
    number(facts.length),
    ...facts.map(({ name, value }) => [...number(strings.index(name)), ...number(strings.index(value))]),
    encodeFrames(frames, strings),
    number(events.length),
    ...events.map((event) => encodeEvent(event, strings)),
    number(modules.length),
    ...modules.map(({ module, why, samples }) => [
      ...number(strings.index(module)), ...number(strings.index(why)), ...number(samples)]),
  ];
  const head = Buffer.concat([Buffer.from('PEVP'), Buffer.from(number(1)), strings.bytes()]);
  return Buffer.concat([head, ...parts.map((part) => Buffer.from(part))]);
}
