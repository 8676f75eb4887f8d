// SPDX-License-Identifier: MIT
//
// What a report must show, worked out a second time and in the simplest way: a decoder on BigInts, and
// counts on whole stacks instead of trees. Invariant: nothing here is shared with viewer/.

// The profile in the bytes, in the form that encode() takes.
export function decode(bytes) {
  let at = 0;
  const number = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) {
        return value;
      }
    }
  };
  const small = () => Number(number());
  const list = (read) => Array.from({ length: small() }, read);
  at = 5;
  const strings = list(() => {
    const size = small();
    at += size;
    return Buffer.from(bytes.subarray(at - size, at)).toString('utf8');
  });
  const string = () => strings[small()];
  const title = string();
  const facts = list(() => ({ name: string(), value: string() }));
  const frames = list(() => ({ label: string(), module: string(), kind: small(), unnamed: small() === 1 }));
  const events = list(() => ({
    name: string(),
    samples: small(),
    weight: number(),
    nodes: list((_, i) => ({ parent: i + 1 - small(), frame: small(), self: small(), weight: number() })),
  }));
  const modules = list(() => ({ module: string(), why: string(), samples: small() }));
  return { title, facts, frames, events, modules };
}

// The totals of all nodes of an event; index 0 is the root.
export function totals(event) {
  const sums = [0, ...event.nodes.map((node) => node.self ?? 0)];
  for (let node = event.nodes.length; node > 0; node--) {
    sums[event.nodes[node - 1].parent] += sums[node];
  }
  const seen = event.nodes.reduce((sum, node) => sum + (node.self ?? 0), 0);
  sums[0] = Number(event.samples ?? seen);
  return sums;
}

// The frames on the stack of a node, innermost first.
function stackOf(event, node) {
  const stack = [];
  for (let at = node; at > 0; at = event.nodes[at - 1].parent) {
    stack.push(event.nodes[at - 1].frame);
  }
  return stack;
}

// Samples whose stack has at least one frame that the test accepts.
export function samplesWith(profile, event, test) {
  let samples = 0;
  event.nodes.forEach((node, i) => {
    if (node.self && stackOf(event, i + 1).some((frame) => test(profile.frames[frame]))) {
      samples += node.self;
    }
  });
  return samples;
}

// Functions by name and module: [{ name, module, self, total }], without threads.
export function functions(profile, event) {
  const found = new Map();
  const add = (frame, key, samples) => {
    const { label, module, kind } = profile.frames[frame];
    if (kind !== 2) {
      const id = JSON.stringify([label, module ?? '']);
      const entry = found.get(id) ?? { name: label, module: module ?? '', self: 0, total: 0 };
      entry[key] += samples;
      found.set(id, entry);
    }
  };
  const keyOf = (frame) => JSON.stringify([profile.frames[frame].label, profile.frames[frame].module]);
  event.nodes.forEach((node, i) => {
    if (node.self) {
      const stack = stackOf(event, i + 1);
      const once = new Map(stack.map((frame) => [keyOf(frame) + (profile.frames[frame].kind === 2), frame]));
      add(node.frame, 'self', node.self);
      once.forEach((frame) => add(frame, 'total', node.self));
    }
  });
  return [...found.values()];
}
