// SPDX-License-Identifier: MIT
//
// Names and numbers as text. A name comes from the program that was measured and may hold anything:
// markup, control characters, marks that turn the direction of writing. Invariant: names reach the
// page only as textContent, the value of a property, or canvas text, and only through shown().

const NUMBER = new Intl.NumberFormat('en-US');
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

function picture(mark) {
  const code = mark.charCodeAt(0);
  return code < 32 ? String.fromCharCode(0x2400 + code) : '\\u{' + code.toString(16) + '}';
}

// The name with everything that has no shape of its own made visible.
function shown(name) {
  return name === '' ? '(no name)' : name.replace(UNSEEN, picture);
}

// Takes a number or a BigInt.
function counted(value) {
  return NUMBER.format(value);
}

function percent(part, whole) {
  if (!(part > 0) || !(whole > 0)) {
    return '0%';
  }
  const value = part / whole * 100;
  if (value < 0.01) {
    return '<0.01%';
  }
  return (value < 99.995 ? value.toFixed(2) : part < whole ? '99.99' : '100') + '%';
}

function plural(value, one, many) {
  return counted(value) + ' ' + (Number(value) === 1 ? one : many);
}

function byId(id) {
  return document.getElementById(id);
}

// A new element; `properties` are set as properties, so text is never read as markup.
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
