// SPDX-License-Identifier: MIT
//
// Reads the bytes of a profile; the format is in FORMAT.md. The bytes may be cut, damaged, or from
// another version. Invariant: every count and every index is checked against what is there before it
// is used, so the outcome is a whole profile or one DecodeError whose text says what and where.
//
// Samples are Numbers (exact below 2^53, which no recording reaches); weights are 64-bit BigInts.

const MAGIC = 'PEVP';
const VERSION = 1;
const NO_FRAME = 0xffffffff;
const KINDS = ['user', 'kernel', 'comm', 'inlined'];
const COMM = 2;
const INLINED = 3;

// Which half of a 64-bit element of a typed array is its lower one.
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] ? 0 : 1;

class DecodeError extends Error {}

class Reader {
  // `binary`: a string with a character for each byte.
  constructor(binary) {
    this.binary = binary;
    this.bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) {
      this.bytes[i] = binary.charCodeAt(i);
    }
    this.at = 0;
  }

  fail(what, at = this.at) {
    throw new DecodeError(`${what}, at byte ${counted(at)} of ${counted(this.bytes.length)}`);
  }

  // The end of the number that starts here.
  numberEnd(what) {
    let end = this.at;
    while (end < this.bytes.length && this.bytes[end] > 127) {
      end++;
    }
    if (end >= this.bytes.length) {
      this.fail(`the data ends inside ${what}`, this.bytes.length);
    }
    const size = end + 1 - this.at;
    if (size > 10 || (size === 10 && this.bytes[end] > 1)) {
      this.fail(`${what} has more than 64 bits`);
    }
    return end + 1;
  }

  // Up to 7 bytes from `at`: below 2^49, so exact.
  part(at, end) {
    let value = 0;
    for (let i = end - 1; i >= at; i--) {
      value = value * 128 + (this.bytes[i] & 127);
    }
    return value;
  }

  number(what) {
    const first = this.bytes[this.at];
    if (first < 128) {
      this.at++;
      return first;
    }
    return this.longNumber(what);
  }

  // A number of several bytes; rounded above 2^53.
  longNumber(what) {
    const start = this.at;
    const end = this.numberEnd(what);
    if (end - start > 7) {
      return Number(this.number64(what));
    }
    this.at = end;
    return this.part(start, end);
  }

  number64(what) {
    const start = this.at;
    const end = this.numberEnd(what);
    const low = this.part(start, Math.min(start + 7, end));
    this.at = end;
    return BigInt(low) + (BigInt(this.part(start + 7, end)) << 49n);
  }

  // A number into an array of 64-bit elements, seen as its halves. Makes no BigInt unless it must.
  storeNumber64(halves, place, what) {
    const start = this.at;
    let value = this.number(what);
    if (this.at - start > 7) {
      this.at = start;
      const wide = this.number64(what);
      halves[2 * place + 1 - LOW] = Number(wide >> 32n);
      value = Number(wide & 0xffffffffn);
    } else {
      halves[2 * place + 1 - LOW] = value / 0x100000000;
    }
    halves[2 * place + LOW] = value;
  }

  // A number of things that follow, each of at least `least` bytes.
  count(what, least) {
    const at = this.at;
    const value = this.number(`the number of ${what}`);
    if (value > (this.bytes.length - this.at) / least) {
      this.fail(`${counted(value)} ${what} are more than the data can hold`, at);
    }
    return value;
  }

  below(limit, what) {
    const at = this.at;
    const value = this.number(what);
    if (value >= limit) {
      this.fail(`${what} is ${counted(value)}, not below ${counted(limit)}`, at);
    }
    return value;
  }
}

function readHead(reader) {
  if (!reader.binary.startsWith(MAGIC)) {
    reader.fail(`the data does not start with ${MAGIC}`);
  }
  reader.at = 4;
  const version = reader.number('the version');
  if (version !== VERSION) {
    reader.fail(`the profile has version ${version} and this page reads version ${VERSION}`, 4);
  }
}

// Most strings are ASCII, where a byte is a character: those need no decoder.
function readString(reader, decoder) {
  const size = reader.count('bytes of a string', 1);
  const end = reader.at + size;
  let seen = 0;
  for (let i = reader.at; i < end; i++) {
    seen |= reader.bytes[i];
  }
  const text = seen < 128 ? reader.binary.slice(reader.at, end)
    : decoder.decode(reader.bytes.subarray(reader.at, end));
  reader.at = end;
  return text;
}

function readStrings(reader) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const strings = new Array(reader.count('strings', 1));
  for (let i = 0; i < strings.length; i++) {
    strings[i] = readString(reader, decoder);
  }
  return strings;
}

function readFacts(reader, strings) {
  const facts = new Array(reader.count('facts', 2));
  for (let i = 0; i < facts.length; i++) {
    const name = strings[reader.below(strings.length, 'the name of a fact')];
    facts[i] = { name, value: strings[reader.below(strings.length, 'the value of a fact')] };
  }
  return facts;
}

function readFrames(reader, strings) {
  const count = reader.count('frames', 4);
  const frames = {
    count,
    label: new Array(count),
    module: new Array(count),
    kind: new Uint8Array(count),
    unnamed: new Uint8Array(count),
  };
  for (let i = 0; i < count; i++) {
    frames.label[i] = strings[reader.below(strings.length, 'the label of a frame')];
    frames.module[i] = strings[reader.below(strings.length, 'the module of a frame')];
    frames.kind[i] = reader.below(KINDS.length, 'the kind of a frame');
    frames.unnamed[i] = reader.below(2, 'the mark of a frame without a name');
  }
  return frames;
}

function newEvent(name, samples, weight, count) {
  const event = {
    name,
    samples,
    weight,
    count,
    parent: new Int32Array(count),
    frame: new Uint32Array(count),
    self: new Float64Array(count),
    selfWeight: new BigUint64Array(count),
  };
  event.frame[0] = NO_FRAME;
  return event;
}

// The sum of 64-bit numbers that are given as halves.
function sumHalves(halves) {
  let low = 0;
  let high = 0;
  for (let i = 0; i < halves.length; i += 2) {
    low += halves[i + LOW];
    high += halves[i + 1 - LOW];
  }
  return BigInt(low) + (BigInt(high) << 32n);
}

function readEvent(reader, strings, frameCount) {
  const name = strings[reader.below(strings.length, 'the name of an event')];
  const samples = reader.number('the samples of an event');
  const weight = reader.number64('the weight of an event');
  const event = newEvent(name, samples, weight, reader.count('nodes', 4) + 1);
  const halves = new Uint32Array(event.selfWeight.buffer);
  let nodeSamples = 0;
  for (let node = 1; node < event.count; node++) {
    const at = reader.at;
    const distance = reader.number('the distance of a node');
    if (distance < 1 || distance > node) {
      reader.fail(`node ${counted(node)} has the distance ${counted(distance)}`, at);
    }
    event.parent[node] = node - distance;
    event.frame[node] = reader.below(frameCount, 'the frame of a node');
    nodeSamples += event.self[node] = reader.number('the samples of a node');
    reader.storeNumber64(halves, node, 'the weight of a node');
  }
  if (nodeSamples > samples) {
    reader.fail(`the nodes of event ${name} have ${counted(nodeSamples)} samples ` +
      `and the event has ${counted(samples)}`);
  }
  event.self[0] = samples - nodeSamples;
  const nodeWeight = sumHalves(halves);
  event.selfWeight[0] = weight > nodeWeight ? weight - nodeWeight : 0n;
  return event;
}

function readEvents(reader, strings, frameCount) {
  const events = new Array(reader.count('events', 4));
  for (let i = 0; i < events.length; i++) {
    events[i] = readEvent(reader, strings, frameCount);
  }
  return events;
}

function readModules(reader, strings) {
  const modules = new Array(reader.count('modules', 3));
  for (let i = 0; i < modules.length; i++) {
    const module = strings[reader.below(strings.length, 'the name of a module')];
    const why = strings[reader.below(strings.length, 'the reason of a module')];
    modules[i] = { module, why, samples: reader.number('the samples of a module') };
  }
  return modules;
}

// The bytes that base64 text stands for.
function bytesOfText(text) {
  try {
    return atob(text);
  } catch {
    throw new DecodeError('the text of the profile is not base64');
  }
}

function decodeProfile(text) {
  const reader = new Reader(bytesOfText(text));
  readHead(reader);
  const strings = readStrings(reader);
  const title = strings[reader.below(strings.length, 'the title')];
  const facts = readFacts(reader, strings);
  const frames = readFrames(reader, strings);
  const events = readEvents(reader, strings, frames.count);
  const modules = readModules(reader, strings);
  if (reader.at !== reader.bytes.length) {
    reader.fail('there is more data behind the end of the profile');
  }
  return { title, facts, frames, events, modules };
}

