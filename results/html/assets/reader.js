"use strict";
// One dialogue, turn by turn. All that a model, a user or a database said goes through `foreign`, as text.

const foreign = (text, name = "pre") => element(name, { class: "foreign", dir: "auto" }, String(text));
const folded = (title, content, open = false) => element("details", { open }, element("summary", {}, title), content);
const titled = (title, ...content) => [element("h5", {}, title), ...content];

function reader(row, { turns, text }, reading, move) {
  const where = Object.entries(row.facets).map(([name, value]) => `${name} ${value}`).join(" · ");
  const step = (label, by) => element("button", { type: "button", onclick: () => move(by) }, label);
  return [
    element("div", { class: "steps" }, element("button", { type: "button", class: "back", onclick: () => move(0) }, "← List"), step("← Previous", -1), step("Next →", 1)),
    element("h3", {}, foreign(row.unit, "span")),
    element("p", { class: "note" }, where, row.ended ? null : " · unfinished"),
    ...turns.map((turn, place) => turnShown(turn, place, text, reading, row)),
  ];
}

function turnShown(turn, place, text, reading, row) {
  const records = turn.records.map(text);
  const sections = (turn.asked.prompt ?? []).flatMap(([, parts]) => parts);
  const question = sections.find(([heading]) => heading && heading === reading.question);
  const memory = sections.filter(([heading]) => heading && heading !== reading.question && !reading.quiet.includes(heading));
  const outcome = reading.question ? row.outcomes[place] : undefined;
  return element(
    "section",
    { class: "turn", tabindex: -1 },
    element("h4", {}, `Turn ${place + 1}`, outcome && element("span", { class: outcome.kind }, `${SIGNS[outcome.kind]} ${outcome.word}`)),
    question && foreign(text(question[1]), "p"),
    memory.length > 0 && element("div", { class: "memory" }, titled("Memory that was shown"), memory.map(([heading, number]) => folded(heading, foreign(text(number)), true))),
    !question && turn.asked.prompt && news(turn.asked, text),
    turn.asked.prompt && folded("The whole prompt", turn.asked.prompt.map((message) => said(message, text))),
    answered("Answer", turn.asked, text),
    (turn.aside ?? []).map((asked) => folded("Asked beside it", [news(asked, text), answered("Answer", asked, text)])),
    element("div", { class: "pair" }, compared(turn, text)),
    turn.agree && element("ul", { class: "agree", "aria-label": "Comparisons with gold" }, Object.entries(turn.agree).map(([name, holds]) => element("li", { class: holds ? "right" : "wrong" }, `${holds ? SIGNS.right : SIGNS.wrong} ${name}`))),
    turn.gold.slice(1).map((each) => folded(each[0], executed(each, text))),
    records.map((record) => folded("On record", foreign(JSON.stringify(record, null, 2)))),
  );
}

// What a question adds to the one before it.
function news(asked, text) {
  const fresh = asked.prompt.slice(asked.known);
  return fresh.filter(([role]) => role !== "system").map((message) => said(message, text));
}

function said([role, parts], text) {
  const body = parts.map(([heading, number]) => [heading && element("h5", {}, heading), foreign(text(number))]);
  return element("div", { class: `said ${role}` }, element("h5", {}, role), ...body);
}

function answered(title, asked, text) {
  const tokens = asked.tokens && `${asked.tokens[0].toLocaleString("en")} tokens in, ${asked.tokens[1].toLocaleString("en")} out`;
  const about = [text(asked.model), asked.finish, tokens].filter(Boolean).join(" · ");
  return [
    ...titled(`${title} (${about})`, foreign(text(asked.answer))),
    asked.reasoning !== undefined && folded("Reasoning", foreign(text(asked.reasoning))),
  ];
}

function compared(turn, text) {
  const shown = [...turn.ran.map((each) => ["SQL that was run", each]), ...turn.gold.slice(0, 1).map((each) => ["Gold", each])];
  return shown.map(([title, each]) => element("div", {}, titled(title), executed(each, text)));
}

function executed([, sql, number], text) {
  return [sql !== null && foreign(text(sql)), result(text(number))];
}

function result({ status, message, columns = [], rows = 0, excerpt = [] }) {
  if (status !== "ok") return element("p", { class: "wrong" }, `${status}: `, foreign(message ?? "", "span"));
  const more = rows > excerpt.length ? `${rows.toLocaleString("en")} rows; the journal keeps the first ${excerpt.length}` : `${rows.toLocaleString("en")} ${rows === 1 ? "row" : "rows"}`;
  const head = element("thead", {}, element("tr", {}, columns.map((name) => element("th", { scope: "col" }, foreign(name, "span")))));
  const body = excerpt.map((row) => element("tr", {}, row.map((cell) => element("td", {}, value(cell)))));
  return [element("div", { class: "result", tabindex: 0 }, element("table", {}, head, element("tbody", {}, body))), element("p", { class: "note" }, more)];
}

// A cell: null, a number, a text, or what JSON cannot hold, under one `$` key.
function value(cell) {
  if (cell === null) return element("span", { class: "null" }, "NULL");
  if (typeof cell !== "object") return foreign(cell, "span");
  const [[kind, content]] = Object.entries(cell);
  return element("span", { class: "null" }, kind === "$blob" ? `x'${content}'` : `${content}`);
}
