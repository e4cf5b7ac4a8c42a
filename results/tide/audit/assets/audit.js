"use strict";
// The audit: one task at a time, its checklist, and every answer on its way to the disk as soon as it is given.

const at = (id) => document.getElementById(id);
const AGAIN = 1000; // milliseconds until the server is tried again

// The token comes behind the #, which no request and no Referer carries, and leaves the address at once. It is this tab's.
function token() {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname);
  }
  return given || sessionStorage.getItem("token") || "";
}
const authorization = `Bearer ${token()}`;
addEventListener("hashchange", () => location.reload());

class Refusal extends Error {}

async function call(method, path, body) {
  const response = await fetch(path, { method, headers: { authorization }, body: body === undefined ? undefined : JSON.stringify(body) });
  if (!response.ok) throw new Refusal((await response.text()) || response.statusText);
  return response.json();
}

const pause = () => new Promise((done) => setTimeout(done, AGAIN));

// What is to be saved, by its place: sent one after another, a later value in place of one that still waits, until the
// server says that it has it. What nobody said, where they are, is saved without a word.
class Saver {
  constructor(shown) {
    this.waiting = new Map();
    this.sending = undefined; // a promise while something waits
    this.given = 0; // how often anything was given to be saved
    this.saved = ""; // what is shown when nothing waits
    this.shown = shown;
    addEventListener("beforeunload", (event) => this.waiting.size && event.preventDefault());
  }

  put(path, body) {
    this.saved = "Saved";
    this.shown("Saving …");
    this.keep(path, body);
  }

  keep(path, body) {
    this.waiting.delete(path);
    this.waiting.set(path, body);
    this.given += 1;
    this.sending ??= this.send();
  }

  async send() {
    while (this.waiting.size) {
      const [path, body] = this.waiting.entries().next().value;
      try {
        await call("PUT", path, body);
        if (this.waiting.get(path) === body) this.waiting.delete(path);
        this.shown(this.waiting.size ? "Saving …" : this.saved);
      } catch (error) {
        this.shown(`Not saved yet: ${error instanceof Refusal ? error.message : "the server does not answer"}`, true);
        await pause();
      }
    }
    this.sending = undefined;
  }
}

class Desk {
  constructor({ annotator, subject, calibration, done, place }) {
    Object.assign(this, { subject, calibration, done, place });
    this.tasks = new Map();
    this.turn = 0; // of renewals: the latest counts
    this.saver = new Saver((text, unsaved = false) => {
      at("saved").textContent = text;
      at("saved").classList.toggle("unsaved", unsaved);
    });
    at("who").textContent = annotator;
    at("previous").addEventListener("click", () => this.step(-1));
    at("next").addEventListener("click", () => this.step(1));
    at("open").addEventListener("click", () => this.goOpen());
    at("comment").addEventListener("input", () => this.remark());
    at("checklist").addEventListener("submit", (event) => event.preventDefault());
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("focus", () => this.renew());
    document.addEventListener("visibilitychange", () => document.hidden || this.renew());
  }

  // Shows a task; one that was looked at before at once, as it was, and then as the server has it.
  async go(place) {
    if (place < 0 || place >= this.done.length) return;
    this.wanted = place;
    const known = this.tasks.has(place);
    while (!this.tasks.has(place)) {
      try {
        this.tasks.set(place, await call("GET", `api/tasks/${place}`));
      } catch (error) {
        say(error instanceof Refusal ? error.message : "The server does not answer; trying again …");
        await pause();
        if (this.wanted !== place) return;
      }
    }
    if (this.wanted !== place) return;
    say("");
    this.place = place;
    this.task = this.tasks.get(place);
    this.saver.keep("api/place", place);
    this.draw();
    if (known) this.renew();
  }

  // Shows what the server has, since another tab may have given it, but nothing older than what was said here.
  async renew() {
    const { task, place } = this;
    if (!task) return;
    const turn = (this.turn += 1);
    try {
      for (let given = -1; given !== this.saver.given; ) {
        await this.saver.sending;
        given = this.saver.given;
        const [{ done }, held] = await Promise.all([call("GET", "api/audit"), call("GET", `api/tasks/${place}`)]);
        if (turn !== this.turn || task !== this.task) return;
        if (given === this.saver.given) this.adopt(done, held);
      }
    } catch (error) {
      if (error instanceof Refusal) say(error.message); // a server that does not answer is asked again at the next occasion
    }
  }

  adopt(done, { answers, comment }) {
    Object.assign(this.task, { answers, comment });
    this.done = done;
    this.task.items.forEach(({ key }, number) => this.press(number, answers[key]));
    if (at("comment").value.trim() !== comment) at("comment").value = comment;
    this.count();
  }

  // From where the last step leads, shown yet or not: keys may come faster than tasks.
  step(by) {
    this.go(Math.max(0, Math.min(this.done.length - 1, this.wanted + by)));
  }

  goOpen() {
    const from = this.done.findIndex((done, place) => !done && place > this.place);
    const place = from < 0 ? this.done.indexOf(false) : from;
    if (place >= 0) this.go(place);
  }

  draw() {
    const { task } = this;
    at("title").replaceChildren(task.set, " ", element("small", {}, task.database));
    at("calibration").hidden = !task.calibration;
    at("parts").replaceChildren(...task.parts.flatMap(shown));
    at("items").replaceChildren(...task.items.map((item, number) => this.item(item, number)));
    at("comment").value = task.comment;
    at("keys").replaceChildren(...keys(task.items));
    this.count();
    scrollTo(0, 0);
    at("checklist").scrollTop = 0;
    at("task").focus({ preventScroll: true });
  }

  item({ key, text, choices }, number) {
    const name = `item-${number}`;
    const buttons = choices.map((choice) =>
      element(
        "button",
        { type: "button", "data-value": choice.value, "aria-pressed": String(this.task.answers[key] === choice.value), "aria-describedby": name, onclick: () => this.answer(number, choice.value) },
        foreign(choice.label), " ", element("kbd", { "aria-hidden": "true" }, choice.key),
      ));
    return element(
      "fieldset",
      { class: "item" },
      element("legend", { id: name }, this.task.items.length > 1 && element("b", {}, `${number + 1}`), text),
      element("div", { class: choices.length > 2 ? "choices many" : "choices" }, buttons),
    );
  }

  answer(number, value) {
    const { key } = this.task.items[number];
    this.task.answers[key] = value;
    this.press(number, value);
    this.saver.put(`api/tasks/${this.place}/answers/${encodeURIComponent(key)}`, value);
    this.count();
    const next = this.unanswered();
    if (next >= 0) this.reach(next);
    else [at("next"), at("open"), at("task")].find((each) => !each.disabled).focus(); // off the answer: Enter would give it again
  }

  press(number, value) {
    for (const button of this.buttons(number)) button.setAttribute("aria-pressed", String(button.dataset.value === value));
  }

  remark() {
    this.task.comment = at("comment").value;
    this.saver.put(`api/tasks/${this.place}/comment`, this.task.comment.toWellFormed?.() ?? this.task.comment);
  }

  count() {
    this.done[this.place] = this.unanswered() < 0;
    const calibrating = this.place < this.calibration;
    const [from, to] = calibrating ? [0, this.calibration] : [this.calibration, this.done.length];
    const finished = this.done.slice(from, to).filter(Boolean).length;
    const all = this.done.every(Boolean);
    const name = calibrating ? "Calibration" : this.subject === "samples" ? "Sample" : "Decision";
    at("count").textContent = `${name} ${this.place + 1 - from} of ${to - from} · ${all ? "all finished, thank you" : `${finished} finished`}`;
    Object.assign(at("progress"), { max: to - from, value: finished });
    at("previous").disabled = this.place === 0;
    at("next").disabled = this.place === this.done.length - 1;
    at("next").classList.toggle("on", this.done[this.place]);
    at("open").disabled = all;
  }

  unanswered() {
    return this.task.items.findIndex(({ key }) => !(key in this.task.answers));
  }

  buttons(number) {
    return [...at("items").children[number].querySelectorAll("button")];
  }

  // The item that has the focus, or else the first that waits for an answer; -1 when none does: no stray key changes one.
  get current() {
    const focused = [...at("items").children].findIndex((each) => each.contains(document.activeElement));
    return focused >= 0 ? focused : this.unanswered();
  }

  reach(number) {
    const buttons = this.buttons(Math.max(0, Math.min(this.task.items.length - 1, number)));
    const button = buttons.find((each) => each.getAttribute("aria-pressed") === "true") ?? buttons[0];
    button.focus({ preventScroll: true });
    button.closest(".item").scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (!this.task) return;
    if (event.key === "Escape" && event.target === at("comment")) return this.reach(this.current);
    if (typing(event)) return;
    const acts = {
      ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1),
      ArrowUp: () => this.reach(this.current - 1), ArrowDown: () => this.reach(at("items").contains(document.activeElement) ? this.current + 1 : this.current),
      g: () => this.goOpen(), c: () => at("comment").focus(), t: turnTheme,
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const chosen = this.task.items[this.current]?.choices.find((choice) => choice.key === key);
    const numbered = /^[1-9]$/.test(key) && Number(key) <= this.task.items.length;
    const act = chosen ? () => this.answer(this.current, chosen.value) : numbered ? () => this.reach(key - 1) : acts[key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

// All that is not ours goes through here, as text of its own direction.
const foreign = (text, name = "span", attributes = {}) => element(name, { dir: "auto", ...attributes, class: `foreign ${attributes.class ?? ""}`.trim() }, text);

const differing = (text, name, differs) => (differs ? element(name, {}, text) : text);

const FORMS = {
  said: ({ heading, text, by, judged }) => [element("h3", {}, heading), foreign(text, "p", { class: `said ${by} ${judged ? "judged" : ""}` })],
  sql: ({ heading, pieces }) => [
    element("h3", {}, heading, pieces.some(([, fresh]) => fresh) && [" ", element("ins", {}, "new")], pieces.some(([, , lost]) => lost) && [" ", element("del", {}, "gone in the next")]),
    foreign(pieces.map(([text, fresh, lost]) => differing(differing(text, "ins", fresh), "del", lost)), "pre", { dir: "ltr", tabindex: 0, "aria-label": heading }),
  ],
  aside: ({ heading, text }) => [element("details", {}, element("summary", {}, heading), foreign(text, "p"))],
  point: ({ label, term, question, chosen, other, state }) => [
    element(
      "section",
      { class: "point" },
      element("h3", {}, `${label} leaves open: `, foreign(term), state && ` (${state})`),
      foreign(question, "p"),
      element("ul", {}, element("li", {}, element("span", {}, "The user’s"), foreign(chosen, "span", { class: "chosen" })), element("li", {}, element("span", {}, "The other"), foreign(other))),
    ),
  ],
};
const shown = (part) => FORMS[part.form](part);

function keys(items) {
  const key = (name, what) => [element("kbd", {}, name), ` ${what}  `];
  const many = items.length > 1;
  return ["Keys: ", many && key("y", "yes"), many && key("n", "no"), many && key(`1–${items.length}`, "item"), key("↑ ↓", "item"), key("← →", "task"), key("g", "next open"), key("c", "comment"), key("Esc", "back"), key("t", "theme")].flat(2).filter(Boolean);
}

function say(text) {
  at("notice").textContent = text;
  at("notice").hidden = !text;
}

async function begin() {
  for (;;) {
    try {
      const desk = new Desk(await call("GET", "api/audit"));
      await desk.go(desk.place);
      at("desk").hidden = at("bar").hidden = false;
      root.dataset.ready = "true";
      return;
    } catch (error) {
      say(error instanceof Refusal ? error.message : "The server does not answer; trying again …");
      if (error instanceof Refusal) return;
      await pause();
    }
  }
}

begin();
