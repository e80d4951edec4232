"use strict";
// Shows the data of the page (see `Page` in mod.rs): everything that comes from a file goes in as text, never as HTML.

const page = JSON.parse(document.getElementById("data").textContent);
const place = id => document.getElementById(id);
const row = (name, value) => document.querySelector(`[data-${name}="${CSS.escape(value)}"]`);
const hex = address => "0x" + address.toString(16);

/** An element with attributes and children: elements or texts. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const number = value => value.toLocaleString("en-US");
const percent = share => `${(100 * share).toFixed(1)} %`;
const heat = (count, share, most) =>
  make("td", { class: "heat", style: `--share: ${(100 * share / most).toFixed(1)}%` }, count);

/** Findings by the address that they show at. */
const troubles = new Map();
for (const finding of page.findings) {
  const at = finding.at.at(-1);
  troubles.set(at, [...(troubles.get(at) ?? []), finding]);
}

// ---- What there is of a function as a whole.

function showFacts(shown) {
  const facts = [...shown.facts, ...(shown.rows.some(row => row.count) ? page.run : [])];
  if (shown.did_not_run) facts.unshift(["this kernel", "did not run"]);
  place("facts").replaceChildren(...facts.map(([name, value]) => make("div", { class: "fact" }, make("b", {}, name), value)));
}

/** Round numbers of registers for a scale from 0 up to below `most`: three or four of them. */
function ticks(most) {
  const step = [2, 4, 8, 16, 32, 64, 128].find(each => most / each < 5) ?? 256;
  return Array.from({ length: Math.floor(0.9 * most / step) }, (_, at) => (at + 1) * step);
}

/** VGPRs and SGPRs that are alive, over the code; dashed: how many VGPRs allow how many waves. */
function showPressure(shown) {
  const { rows, steps } = shown;
  const vgprs = rows.map(row => row.alive[0] + row.alive[1]), sgprs = rows.map(row => row.alive[2]);
  const most = Math.max(8, ...vgprs, ...sgprs) * 1.15;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${Math.max(1, rows.length)} ${most}`);
  svg.setAttribute("preserveAspectRatio", "none");
  const draw = (tag, attributes) => {
    const line = document.createElementNS(svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
    svg.append(line);
  };
  const path = values => values.map((value, at) => `${at ? "L" : "M"}${at} ${most - value}H${at + 1}`).join("");
  const plot = make("div", { class: "plot" }, svg);
  const visible = steps.filter(([, limit], at) => limit < most && limit !== steps[at + 1]?.[1]);
  for (const [waves, limit] of visible) {
    draw("line", { class: "step", x1: 0, x2: rows.length, y1: most - limit, y2: most - limit });
    const top = `top: ${(100 * (most - limit) / most).toFixed(1)}%`;
    plot.append(make("span", { style: top }, `${limit} VGPRs: ${waves} waves`));
  }
  for (const value of ticks(most)) {
    draw("line", { class: "tick", x1: 0, x2: rows.length, y1: most - value, y2: most - value });
    plot.append(make("span", { class: "scale", style: `top: ${(100 * (most - value) / most).toFixed(1)}%` }, value));
  }
  draw("path", { class: "vgpr", d: path(vgprs) });
  draw("path", { class: "sgpr", d: path(sgprs) });
  const legend = make("p", { class: "legend" },
    "Registers that hold a value still needed, over the code:",
    make("i", { style: "background: var(--vgpr)" }), `VGPRs, ${Math.max(0, ...vgprs)} at most`,
    make("i", { style: "background: var(--sgpr)" }), `SGPRs, ${Math.max(0, ...sgprs)} at most`);
  const ends = make("p", { class: "legend ends" }, ...[rows[0], rows.at(-1)].filter(Boolean).map(row => make("span", {}, hex(row.address))));
  place("pressure").replaceChildren(make("h2", {}, "Register pressure"), legend, plot, ends);
}

/** An SVG element with attributes and children. */
function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Sizes in the graph: width, height and distance of the boxes, height of a text line. */
const BOX = { width: 190, height: 58, step: 82, line: 15 };

/** The path of an edge: to the next block a straight line, otherwise an arc beside the boxes whose width grows with its length. */
function edgePath({ from, to, classes }, left) {
  const isLinear = classes.startsWith("linear");
  if (to === from + 1) {
    const x = left + BOX.width * (isLinear ? 0.4 : 0.6);
    return `M${x} ${from * BOX.step + BOX.height}V${to * BOX.step - 2}`;
  }
  const x = isLinear ? left : left + BOX.width, side = isLinear ? -1 : 1;
  const start = from * BOX.step + BOX.height * 0.7, end = to * BOX.step + BOX.height * 0.3;
  const wide = x + side * Math.min(left * 1.3, 24 + 14 * Math.abs(to - from));
  return `M${x} ${start}C${wide} ${start} ${wide} ${end} ${x + side * 2} ${end}`;
}

/** The blocks in the order of the layout: edges of the linear graph on the left, of the logical graph on the right. */
function showGraph(shown) {
  const graph = page.graphs.find(each => each.name === shown.name);
  if (!graph || graph.blocks.length < 2) return place("graph").replaceChildren();
  const left = 40 + 14 * Math.min(12, Math.max(...graph.edges.map(edge => Math.abs(edge.to - edge.from)), 0));
  const size = { width: 2 * left + BOX.width, height: graph.blocks.length * BOX.step };
  const arrow = makeSvg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse", markerUnits: "userSpaceOnUse" },
    makeSvg("path", { d: "M0 0L8 4L0 8z", fill: "context-stroke" }));
  const edges = graph.edges.map(edge => makeSvg("path", { class: `edge ${edge.classes}`, d: edgePath(edge, left), "marker-end": "url(#arrow)" }));
  const boxes = graph.blocks.map((block, at) => makeSvg("g", {},
    makeSvg("rect", { class: block.is_header ? "block header" : "block", x: left, y: at * BOX.step, width: BOX.width, height: BOX.height, rx: 4 }),
    ...block.lines.map((text, line) => makeSvg("text", { x: left + 8, y: at * BOX.step + 17 + line * BOX.line }, text))));
  const svg = makeSvg("svg", { class: "flow", viewBox: `-2 -4 ${size.width + 4} ${size.height}`, width: size.width, height: size.height }, makeSvg("defs", {}, arrow), ...edges, ...boxes);
  const legend = make("p", { class: "legend" },
    make("i", { class: "linear" }), "paths of the program counter (thick: back to a loop's header)",
    make("i", { class: "logical" }), "paths of a lane (dashed: lanes may go different ways)");
  const summary = make("summary", {}, `Control flow, ${graph.blocks.length} blocks`);
  place("graph").replaceChildren(make("details", {}, summary, legend, make("div", { class: "scroll" }, svg)));
}

function showFindings() {
  const item = finding => make("li", {},
    make("code", {}, `${finding.rule}`), ` (${finding.level}, ${finding.by}) ${finding.text} `,
    ...finding.at.map(at => make("a", { href: "#" + hex(at) }, hex(at), " ")),
    ...(finding.help ? [make("div", { class: "help" }, `help: ${finding.help}`)] : []),
    ...finding.notes.map(note => make("div", { class: "help" }, `note: ${note}`)));
  const list = page.findings.length ? make("ul", {}, ...page.findings.map(item)) : make("p", { class: "legend" }, "nothing was found");
  place("findings").replaceChildren(make("h2", {}, "Findings"), list);
}

// ---- Source beside assembly.

const counted = page.executed !== undefined && page.executed !== null;
const key = (source, line) => `${source}:${line}`;

/** Wave instructions by source line; lines with code that was not reached have 0, and those of kernels that did not run are not there. */
const heatOf = new Map();
for (const row of page.functions.filter(each => !each.did_not_run).flatMap(each => each.rows)) {
  if (!row.source) continue;
  const line = key(row.source[0], row.source[1]);
  heatOf.set(line, (heatOf.get(line) ?? 0) + (row.count ?? 0));
}

/** How many lines are listed. */
const LISTED = 8;

/** The lines that took most, with links to them. */
function showHottest() {
  if (!counted) return;
  const hottest = [...heatOf].filter(([, count]) => count > 0).sort((a, b) => b[1] - a[1]).slice(0, LISTED);
  if (!hottest.length) return;
  const most = hottest[0][1];
  const rows = hottest.map(([line, count]) => {
    const [source, number] = line.split(":").map(Number);
    const name = page.sources.length > 1 ? `${page.sources[source].name}:${number}` : number;
    const text = page.sources[source].lines?.[number - 1]?.trim() ?? "";
    const link = make("a", { href: "#L" + line }, name);
    return make("tr", { "data-hot": line }, heat(percent(count / page.executed), count, most),
      make("td", { class: "number" }, link), make("td", { class: "text" }, text));
  });
  place("hottest").replaceChildren(make("h2", {}, "Hottest lines"), make("table", {}, make("tbody", {}, ...rows)));
}

function head(...names) {
  return make("thead", {}, make("tr", {}, ...names.filter(Boolean).map(([name, hint, numeric]) =>
    make("th", { title: hint, ...(numeric ? { class: "number" } : {}) }, name))));
}

function sourceTable(source, at) {
  const most = Math.max(1, ...heatOf.values());
  const body = source.lines.map((text, index) => {
    const line = index + 1, count = heatOf.get(key(at, line));
    const cells = [make("td", { class: "number" }, line)];
    if (counted) cells.push(count === undefined ? make("td") : heat(count ? percent(count / page.executed) : "never", count, most));
    cells.push(make("td", { class: "text" }, text));
    const names = [count === undefined && "plain", counted && count === 0 && "cold"].filter(Boolean);
    return make("tr", { "data-line": key(at, line), class: names.join(" ") }, ...cells);
  });
  const columns = head(["line", "", true], counted && ["heat", "share of the wave instructions of the run", true], ["source", ""]);
  return make("table", {}, columns, make("tbody", {}, ...body));
}

function showSource(shown) {
  const used = new Set(shown.rows.filter(row => row.source).map(row => row.source[0]));
  const parts = page.sources.flatMap((source, at) => !used.has(at) ? [] : [
    make("h2", { style: "padding-left: .5rem" }, source.name),
    source.lines ? sourceTable(source, at) : make("p", { class: "legend" }, "this file could not be read"),
  ]);
  place("source").replaceChildren(...(parts.length ? parts : [make("p", { class: "legend" }, "the object has no line table")]));
}

/** What stands below an instruction: reasons, conflicts, findings. */
function remarks(row) {
  const below = [];
  if (row.reason) below.push(make("div", { class: "why" }, row.reason));
  else if (row.waits) {
    const texts = row.waits.length ? row.waits : ["nothing that it waits for is under way"];
    below.push(...texts.map(text => make("div", { class: "wait" }, text)));
  }
  if (row.conflicts) {
    below.push(make("div", { class: "conflict" }, `bank conflicts: ${(row.conflicts / row.count).toFixed(1)} passes more each time`));
  }
  for (const finding of troubles.get(row.address) ?? []) {
    below.push(make("div", { class: "trouble" }, `${finding.rule}: ${finding.text}`));
  }
  return below;
}

function showCode(shown) {
  const counts = counted && !shown.did_not_run;
  const most = Math.max(1, ...shown.rows.map(row => row.count ?? 0));
  const top = Math.max(1, ...shown.rows.map(row => row.alive[0] + row.alive[1]));
  const body = shown.rows.map(row => {
    const vgprs = row.alive[0] + row.alive[1];
    const cells = [make("td", { class: "number" }, hex(row.address))];
    if (counts) {
      cells.push(heat(number(row.count), row.count, most));
      cells.push(make("td", { class: "number" }, row.lanes ?? ""));
    }
    cells.push(make("td", { class: "bar number", style: `--share: ${(100 * vgprs / top).toFixed(1)}%` }, vgprs));
    const text = make("td", {}, row.text);
    if (row.to !== undefined) text.append(make("a", { href: "#" + hex(row.to) }, `  \u2192 ${hex(row.to)}`));
    text.append(...remarks(row));
    const line = row.source ? key(row.source[0], row.source[1]) : "";
    const cold = counts && row.count === 0 ? "cold" : "";
    return make("tr", { "data-address": hex(row.address), "data-of": line, class: cold }, ...cells, text);
  });
  const columns = head(["address", "", true],
    counts && ["waves", "times that a wave has executed it", true],
    counts && ["lanes", "active lanes on average", true],
    ["VGPRs", "VGPRs that hold a value still needed in front of it", true], ["instruction", ""]);
  place("code").replaceChildren(make("table", {}, columns, make("tbody", {}, ...body)));
}

// ---- What belongs together lights up.

/** Scrolls the pane of a row, never the page. */
function reveal(each) {
  const pane = each.closest("section"), top = each.offsetTop - pane.scrollTop;
  if (top < 40 || top > pane.clientHeight - 60) pane.scrollTop = each.offsetTop - pane.clientHeight / 3;
}

function mark(line, address) {
  document.querySelectorAll(".marked").forEach(row => row.classList.remove("marked"));
  const rows = address
    ? [row("address", address)].filter(Boolean)
    : [...document.querySelectorAll(`[data-of="${CSS.escape(line)}"]`)];
  const own = address ? rows[0]?.dataset.of : line;
  const source = own && row("line", own);
  for (const each of [...rows, source]) each?.classList.add("marked");
  for (const each of [rows[0], source]) if (each) reveal(each);
}

function choose(name) {
  const shown = page.functions.find(each => each.name === name) ?? page.functions[0];
  if (!shown) return;
  place("functions").value = shown.name;
  showFacts(shown);
  showPressure(shown);
  showGraph(shown);
  showSource(shown);
  showCode(shown);
}

/** `#0x40`: the instruction there; `#L0:7`: line 7 of the first source. */
function follow() {
  const wanted = decodeURIComponent(location.hash.slice(1));
  if (wanted.startsWith("0x")) {
    const holds = each => each.rows.some(row => hex(row.address) === wanted);
    if (!row("address", wanted)) choose(page.functions.find(holds)?.name);
    mark("", wanted);
  } else if (wanted.startsWith("L")) {
    const line = wanted.slice(1), has = each => each.rows.some(row => row.source && key(row.source[0], row.source[1]) === line);
    if (!row("line", line)) choose(page.functions.find(has)?.name);
    mark(line);
  }
}

place("title").textContent = page.file;
place("subtitle").textContent = `kernc ${page.version} ${page.command}${page.kernel ? ` of ${page.kernel}` : ""}, for ${page.target}` +
  (counted ? `, ${number(page.executed)} wave instructions` : "");
place("functions").append(...page.functions.map(each => make("option", { value: each.name }, each.name || "(no name)")));
place("functions").addEventListener("change", event => choose(event.target.value));
document.addEventListener("click", event => {
  if (event.target.closest("a")) return;
  const { line, address } = event.target.closest("tr")?.dataset ?? {};
  if (!line && !address) return;
  history.replaceState(null, "", "#" + (address ?? "L" + line));
  follow();
});
window.addEventListener("hashchange", follow);
showFindings();
showHottest();
// The kernel that ran, or the first function.
choose(page.kernel ?? page.functions[0]?.name);
follow();
