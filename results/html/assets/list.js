"use strict";
// The list of dialogues: only the rows in sight exist, so that its length does not matter.

const ROW = 52;
const SIGNS = { right: "✓", wrong: "✗", ending: "!", unscored: "–" };
const MEANINGS = { right: "right", wrong: "wrong", ending: "ended early", unscored: "not scored" };
const CHOICES = 40; // a facet with more values than this is found by typing

const distinct = (values) => [...new Set(values)];

class List {
  constructor(rows, facets, order, chosen) {
    this.all = rows;
    this.shown = rows;
    this.at = -1;
    this.chosen = chosen;
    this.box = document.getElementById("list");
    this.form = document.getElementById("filters");
    this.space = this.box.appendChild(element("div"));
    this.box.addEventListener("scroll", () => this.draw());
    addEventListener("resize", () => this.draw());
    this.form.addEventListener("input", () => this.filter());
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.append(...this.controls(facets, order));
    document.getElementById("legend").append(...this.legend());
    this.filter();
  }

  controls(facets, order) {
    const select = (name, values) =>
      element("label", {}, name, element("select", { name }, element("option", { value: "" }, "all"), values.map((value) => element("option", { value }, value))));
    const place = (name, value) => (order[name] ?? []).indexOf(value);
    const values = (name) => distinct(this.all.map((row) => row.facets[name]).filter((value) => value !== undefined));
    const selects = facets
      .map((name) => [name, values(name).sort((one, other) => place(name, one) - place(name, other))])
      .filter(([, values]) => values.length > 1 && values.length <= CHOICES)
      .map(([name, values]) => select(name, values));
    const outcomes = distinct(this.all.flatMap((row) => row.outcomes.map((outcome) => outcome.word))).sort();
    const unfinished = this.all.some((row) => !row.ended) ? ["(unfinished)"] : [];
    return [
      ...selects,
      select("outcome", [...outcomes, ...unfinished]),
      element("label", { class: "find" }, "find", element("input", { name: "find", type: "search", placeholder: "part of a name" })),
    ];
  }

  // What each sign stands for in this list.
  legend() {
    const outcomes = this.all.flatMap((row) => row.outcomes);
    const words = (kind) => distinct(outcomes.filter((outcome) => outcome.kind === kind).map((outcome) => outcome.word)).sort();
    const signs = Object.keys(SIGNS)
      .map((kind) => [kind, words(kind)])
      .filter(([, found]) => found.length > 0)
      .map(([kind, found]) => element("span", {}, element("span", { class: kind }, SIGNS[kind]), ` ${MEANINGS[kind]}: ${found.join(", ")}`));
    return this.all.some((row) => !row.ended) ? [...signs, element("span", {}, "… unfinished")] : signs;
  }

  filter() {
    const wanted = [...new FormData(this.form)].filter(([, value]) => value !== "");
    const holds = (row, [name, value]) => {
      if (name === "find") return row.unit.toLowerCase().includes(value.toLowerCase());
      if (name !== "outcome") return row.facets[name] === value;
      return value === "(unfinished)" ? !row.ended : row.outcomes.some((outcome) => outcome.word === value);
    };
    const open = this.shown[this.at];
    this.shown = this.all.filter((row) => wanted.every((each) => holds(row, each)));
    this.at = this.shown.indexOf(open);
    const count = this.shown.length.toLocaleString("en");
    document.getElementById("count").textContent = `${count} of ${this.all.length.toLocaleString("en")} dialogues`;
    this.space.style.height = `${this.shown.length * ROW}px`;
    this.box.scrollTop = 0;
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 4);
    const last = Math.min(this.shown.length, first + Math.ceil(this.box.clientHeight / ROW) + 8);
    this.space.replaceChildren(...this.shown.slice(first, last).map((row, offset) => this.row(row, first + offset)));
  }

  row(row, place) {
    const { session, sample, model, ...where } = row.facets;
    const signs = row.outcomes.map(({ word, kind }) => element("span", { class: kind, title: word }, SIGNS[kind]));
    const made = element(
      "div",
      { class: "row", role: "option", "aria-selected": String(place === this.at), onclick: () => this.choose(place) },
      element("div", { class: "top" }, element("span", { class: "name" }, session ?? sample ?? row.unit), element("span", { class: "signs" }, signs, row.ended ? null : "…")),
      element("div", { class: "where" }, [...Object.values(where), model].filter(Boolean).join(" · ")), // the longest last
    );
    made.style.top = `${place * ROW}px`;
    return made;
  }

  choose(place) {
    if (place < 0 || place >= this.shown.length) return;
    this.at = place;
    const top = place * ROW;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + ROW > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + ROW - this.box.clientHeight;
    this.draw();
    this.chosen(this.shown[place]);
  }

  find(unit) {
    const place = this.shown.findIndex((row) => row.unit === unit);
    if (place >= 0) this.choose(place);
  }
}
