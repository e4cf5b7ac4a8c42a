"use strict";
// The page as a whole: keys, and the dialogue that the address names.

async function dialogues() {
  const browser = document.querySelector(".browser");
  const pane = document.getElementById("reader");
  const reading = JSON.parse(pane.dataset.reading);
  const { rows, facets, order } = await index();
  const list = new List(rows, facets, order, show);
  let latest;

  async function show(row) {
    latest = row;
    const found = await dialogue(row);
    if (latest !== row) return;
    pane.replaceChildren(...reader(row, found, reading, move));
    browser.classList.add("open");
    history.replaceState(null, "", `#${new URLSearchParams({ dialogue: row.unit })}`);
    pane.focus({ preventScroll: true });
    browser.scrollIntoView({ block: "start" });
  }

  function move(by) {
    if (by) return list.choose(list.at + by);
    browser.classList.remove("open");
    list.draw();
    list.box.focus();
  }

  function turn(by) {
    const turns = [...pane.querySelectorAll(".turn")];
    const now = turns.findIndex((each) => each === document.activeElement);
    const next = turns[Math.max(0, Math.min(turns.length - 1, now + by))];
    if (next) next.focus();
  }

  const keys = {
    j: () => move(1), ArrowDown: () => move(1), k: () => move(-1), ArrowUp: () => move(-1),
    n: () => turn(1), p: () => turn(-1), t: turnTheme, Escape: () => move(0),
    "/": () => list.form.elements.find.focus(),
  };
  addEventListener("keydown", (event) => {
    const arrow = event.key.startsWith("Arrow");
    if (!keys[event.key] || (typing(event) && event.key !== "Escape") || (arrow && document.activeElement !== list.box)) return;
    event.preventDefault();
    keys[event.key]();
  });

  list.find(new URLSearchParams(location.hash.slice(1)).get("dialogue"));
  root.dataset.ready = "true";
}

if (document.getElementById("reader")) dialogues();
else root.dataset.ready = "true";
