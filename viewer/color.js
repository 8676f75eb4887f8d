// SPDX-License-Identifier: MIT
//
// Colours. The kind of a frame gives the range of hues, a hash of its name the place in it, so that a
// function has the same colour wherever it stands. Invariant: colours are made in OKLCH, where equal
// lightness looks equally light; so text has the same contrast on every frame of a theme.

const SHADES = 16;

// For each kind in KINDS: first hue, last hue, chroma; lightness is the theme's.
const HUES = [[58, 90, 0.088], [232, 266, 0.075], [285, 285, 0.006], [150, 178, 0.075]];
const THEMES = {
  light: { light: 0.865, chroma: 1, text: '#1b1a18', mark: oklch(0.72, 0.19, 350), markText: '#1b1a18' },
  dark: { light: 0.44, chroma: 0.86, text: '#f1efec', mark: oklch(0.56, 0.2, 352), markText: '#ffffff' },
};

function gammaByte(linear) {
  const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * Math.pow(linear, 1 / 2.4) - 0.055;
  return Math.round(Math.min(Math.max(value, 0), 1) * 255);
}

function oklch(light, chroma, hue) {
  const a = chroma * Math.cos(hue * Math.PI / 180);
  const b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (light - 0.0894841775 * a - 1.2914855480 * b) ** 3;
  const bytes = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
  ].map(gammaByte);
  return '#' + bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

// FNV-1a.
function hashName(name) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}

// The number of a frame's colour in a palette: its kind, paler when it has no name, and its shade.
function frameTints(frames) {
  const tints = new Uint8Array(frames.count);
  for (let i = 0; i < frames.count; i++) {
    const range = frames.kind[i] + KINDS.length * frames.unnamed[i];
    tints[i] = range * SHADES + hashName(frames.label[i]) % SHADES;
  }
  return tints;
}

function tintColor(theme, range, shade) {
  const [low, high, chroma] = HUES[range % KINDS.length];
  const pale = range < KINDS.length ? 1 : 0.3;
  const hue = low + (high - low) * shade / (SHADES - 1);
  const light = theme.light + ((shade * 7) % SHADES / (SHADES - 1) - 0.5) * 0.05;
  return oklch(light, chroma * pale * theme.chroma, hue);
}

function makePalette(name) {
  const theme = THEMES[name];
  const fill = [];
  for (let range = 0; range < 2 * KINDS.length; range++) {
    for (let shade = 0; shade < SHADES; shade++) {
      fill.push(tintColor(theme, range, shade));
    }
  }
  return { ...theme, fill, kind: KINDS.map((_, kind) => tintColor(theme, kind, SHADES / 2)) };
}
