"use strict";
// The data: JSON, deflated, in base64. A block is opened when one of its dialogues is looked at, and kept.

async function unpack(name) {
  const packed = document.getElementById(`data-${name}`).textContent;
  const bytes = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

const opened = new Map();

function open(name) {
  if (!opened.has(name)) {
    // Few are kept: each is a megabyte of text.
    if (opened.size > 12) opened.delete([...opened.keys()].find((key) => key !== "shared"));
    opened.set(name, unpack(name));
  }
  return opened.get(name);
}

// Returns the turns of a dialogue, and the function from a number to its text.
async function dialogue(row) {
  const [shared, block] = await Promise.all([open("shared"), open(row.block)]);
  return { turns: block.dialogues[row.place], text: (number) => (number < 0 ? shared[-1 - number] : block.texts[number]) };
}

// Returns the rows of the list with their facets by name, the facets' names, and the order of values that have one.
async function index() {
  const { facets, order, words, kinds, rows } = await unpack("index");
  const listed = rows.map(([unit, ended, block, place, values, outcomes]) => ({
    unit, ended, block, place,
    facets: Object.fromEntries(values.map((word, column) => [facets[column], words[word]]).filter(([, value]) => value !== undefined)),
    outcomes: outcomes.map((word) => ({ word: words[word], kind: kinds[word] })),
  }));
  return { rows: listed, facets, order };
}
