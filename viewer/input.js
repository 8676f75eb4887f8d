// SPDX-License-Identifier: MIT
//
// Pointer, touch and keyboard, turned into calls of App. Invariants: keys act on the graph only while
// the canvas has the focus, and / ? Escape everywhere but where text is typed; whoever uses the mouse
// sees no focus ring.

const WIDE = '(min-width: 1100px)';

function pointOf(event) {
  const place = byId('canvas').getBoundingClientRect();
  return { x: event.clientX - place.left, y: event.clientY - place.top };
}

function nodeUnder(app, event) {
  const { x, y } = pointOf(event);
  return app.graph.hit(x, y);
}

function hoverAt(app, event) {
  if (event.pointerType === 'touch' || app.card.pinned >= 0) {
    return;
  }
  const node = nodeUnder(app, event);
  app.graph.setHover(node);
  byId('canvas').style.cursor = node < 0 ? '' : 'pointer';
  if (node < 0) {
    app.card.hide();
  } else {
    app.showCard(node, false, { x: event.clientX, y: event.clientY });
  }
}

function hoverEnds(app) {
  app.graph.setHover(-1);
  if (app.card.pinned < 0) {
    app.card.hide();
  }
}

// A click zooms. A tap, which has no hover before it, first shows the card, then zooms.
function clickAt(app, event, touched) {
  const node = nodeUnder(app, event);
  const pinned = app.card.pinned;
  app.card.hide();
  if (node < 0) {
    return;
  }
  if (touched && node !== pinned) {
    app.graph.setFocus(node);
    app.graph.setHover(node);
    app.showCard(node, true);
  } else {
    app.zoomTo(node);
  }
}

function pinAt(app, event) {
  event.preventDefault();
  const node = nodeUnder(app, event);
  if (node >= 0) {
    app.graph.setFocus(node);
    app.graph.setHover(node);
    app.showCard(node, true, { x: event.clientX, y: event.clientY });
  }
}

function connectPointer(app) {
  const canvas = byId('canvas');
  let touched = false;
  canvas.addEventListener('pointermove', (event) => hoverAt(app, event));
  canvas.addEventListener('pointerleave', () => hoverEnds(app));
  canvas.addEventListener('click', (event) => clickAt(app, event, touched));
  canvas.addEventListener('contextmenu', (event) => pinAt(app, event));
  document.addEventListener('pointerdown', (event) => {
    touched = event.pointerType === 'touch';
    delete document.documentElement.dataset.keys;
    if (event.target !== canvas && !app.card.holds(event.target)) {
      app.card.hide();
    }
  });
  byId('scroll').addEventListener('scroll', () => {
    if (byId('scroll').scrollTop !== app.cardScroll) {
      app.card.hide();
    }
  });
}

function moveFocus(app, way) {
  const { boxes, tree, focus } = app.graph;
  const node = neighbour(boxes, tree, focus, way);
  app.graph.setFocus(node);
  app.announce(node);
  app.showCard(node, false);
}

function pinFocused(app) {
  app.showCard(app.graph.focus, true);
  const button = byId('actions').querySelector('button');
  if (!byId('actions').hidden) {
    button.focus();
  }
}

// What a key does on the canvas, or undefined.
function canvasAction(app, key) {
  const down = app.graph.flipped ? 'parent' : 'child';
  const up = app.graph.flipped ? 'child' : 'parent';
  return {
    ArrowDown: () => moveFocus(app, down),
    ArrowUp: () => moveFocus(app, up),
    ArrowLeft: () => moveFocus(app, 'previous'),
    ArrowRight: () => moveFocus(app, 'next'),
    Enter: () => {
      app.zoomTo(app.graph.focus);
      app.announce(app.graph.focus);
    },
    ' ': () => pinFocused(app),
    ContextMenu: () => pinFocused(app),
  }[key];
}

function escape(app) {
  if (app.card.pinned >= 0) {
    const inside = app.card.holds(document.activeElement);
    app.card.hide();
    if (inside) {
      byId('canvas').focus();
    }
    return;
  }
  app.reset();
}

function focusSearch() {
  const field = byId('main').dataset.view === 'functions' ? byId('filter') : byId('search');
  field.focus();
  field.select();
}

function pageAction(app, key) {
  return {
    Escape: () => escape(app),
    '/': () => focusSearch(),
    '?': () => byId('help').showModal(),
  }[key];
}

function keyDown(app, event) {
  document.documentElement.dataset.keys = '';
  const typing = event.target.matches('input, select, textarea');
  if (event.ctrlKey || event.metaKey || event.altKey || typing || byId('help').open) {
    return;
  }
  const action = (event.target === byId('canvas') && canvasAction(app, event.key)) || pageAction(app, event.key);
  if (action) {
    event.preventDefault();
    action();
  }
}

// Escape in a field empties it, and in an empty one goes back to the graph.
function fieldKey(app, event, clear) {
  if (event.key !== 'Escape') {
    return;
  }
  event.preventDefault();
  if (event.target.value === '') {
    byId('canvas').focus();
    app.reset();
  } else {
    clear();
  }
}

function connectFields(app) {
  byId('search').addEventListener('input', (event) => app.search(event.target.value));
  byId('search').addEventListener('keydown', (event) => fieldKey(app, event, () => app.clearSearch()));
  byId('filter').addEventListener('keydown', (event) => fieldKey(app, event, () => {
    byId('filter').value = '';
    app.table.setFilter('');
  }));
}

function flip(app) {
  app.card.hide();
  app.graph.setFlipped(!app.graph.flipped);
  byId('flip').setAttribute('aria-pressed', app.graph.flipped);
}

function connectButtons(app) {
  byId('clear').addEventListener('click', () => {
    app.clearSearch();
    byId('search').focus();
  });
  byId('reset').addEventListener('click', () => app.reset());
  byId('flip').addEventListener('click', () => flip(app));
  byId('views').addEventListener('click', (event) => {
    if (event.target.dataset.view) {
      app.setView(event.target.dataset.view);
    }
  });
}

function connectInput(app) {
  connectPointer(app);
  connectFields(app);
  connectButtons(app);
  byId('canvas').addEventListener('focus', () => app.announce(app.graph.focus));
  document.addEventListener('keydown', (event) => keyDown(app, event));
  app.setView('both');
  matchMedia(WIDE).addEventListener('change', () => app.setView(app.view));
}

// Follows the system until the button was used. Works without a profile too.
function connectTheme(setTheme) {
  const system = matchMedia('(prefers-color-scheme: dark)');
  let chosen = false;
  setTheme(system.matches ? 'dark' : 'light');
  system.addEventListener('change', () => chosen || setTheme(system.matches ? 'dark' : 'light'));
  byId('theme').addEventListener('click', () => {
    chosen = true;
    setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  });
  byId('help-button').addEventListener('click', () => byId('help').showModal());
  byId('help-close').addEventListener('click', () => byId('help').close());
}
