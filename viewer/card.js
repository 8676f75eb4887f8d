// SPDX-License-Identifier: MIT
//
// The card with the exact numbers of one frame. It has two states: it follows the pointer or the
// keyboard's focus and lets every click through; or it is pinned (right click, tap, space) and has
// buttons. Invariant: `pinned` is the node of a pinned card, else -1; a card never leaves the window.

const MARGIN = 8;

class Card {
  constructor() {
    this.element = byId('card');
    this.pinned = -1;
    this.onaction = () => {};
    byId('actions').addEventListener('click', (event) => {
      const action = event.target.dataset.action;
      if (action) {
        this.onaction(action, this.pinned);
      }
    });
  }

  // `facts`: what App.describe() tells. `anchor`: a rectangle in the window that is not to be covered.
  show(facts, anchor, pin = false) {
    this.pinned = pin ? facts.node : -1;
    byId('card-name').textContent = facts.name;
    byId('card-place').textContent = facts.place;
    byId('card-numbers').replaceChildren(...facts.numbers.map(this.numbers));
    byId('actions').hidden = !pin || facts.node === ROOT;
    this.element.classList.toggle('pinned', pin);
    this.element.hidden = false;
    this.place(anchor);
  }

  numbers([what, total, self]) {
    return make('tr', {}, make('th', { scope: 'row', textContent: what }),
      make('td', { textContent: total }), make('td', { textContent: self }));
  }

  place(anchor) {
    const { offsetWidth, offsetHeight } = this.element;
    const right = document.documentElement.clientWidth - offsetWidth - MARGIN;
    const bottom = window.innerHeight - offsetHeight - MARGIN;
    const above = anchor.top - offsetHeight - MARGIN;
    const below = anchor.bottom + MARGIN;
    const top = below <= bottom || above < MARGIN ? Math.min(below, bottom) : above;
    this.element.style.left = Math.max(Math.min(anchor.left, right), MARGIN) + 'px';
    this.element.style.top = Math.max(top, MARGIN) + 'px';
  }

  hide() {
    this.pinned = -1;
    this.element.hidden = true;
  }

  holds(element) {
    return this.element.contains(element);
  }
}

// file:// pages have no clipboard object in some browsers.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make('textarea', { value: text, readOnly: true, className: 'unseen' });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}
