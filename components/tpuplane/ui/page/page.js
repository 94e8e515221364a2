"use strict";
// The page of `tpuplane ui`: it keeps the entries that the server sends, and draws what has changed.

const entries = new Map(); // by key, such as "slice/CONTEXT/NAME"
const letters = new Map(); // the number of each holder, which it keeps while the page is open
const $ = (id) => document.getElementById(id);
let selected = null; // the key of the slice or job whose details are shown
let reading = 0;

function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "scope") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((it) => it !== "" && it != null));
  return made;
}

/** Keep the children of `parent` for the same keys, so that focus and scroll positions remain. */
function keyed(parent, items, keyOf, make, update) {
  const old = new Map([...parent.children].map((it) => [it.dataset.key, it]));
  let at = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let child = old.get(key);
    old.delete(key);
    if (!child) (child = make(item)).dataset.key = key;
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
    update(child, item);
  }
  for (const child of old.values()) child.remove();
}

const of = (kind) => [...entries].filter(([key]) => key.startsWith(kind + "/")).map(([key, it]) => ({ key, ...it }));
const sum = (items, value) => items.reduce((total, it) => total + value(it), 0);
const count = (number, unit) => `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;
const dollars = (usd) => "$" + usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const hosts = (slice, test) => sum(slice.cells, ([number, holder, state]) => (test(holder, state) ? number : 0));
const byName = (a, b) => a.key.localeCompare(b.key, "en", { numeric: true });

function nameOf(holder) {
  const [namespace] = holder.job.split("/");
  return { team: holder.team || namespace, namespace, job: holder.job }[$("by").value];
}

function numberOf(name) {
  if (!letters.has(name)) letters.set(name, letters.size);
  return letters.get(name);
}

function letterOf(name) {
  const number = numberOf(name);
  return (number < 26 ? "" : String.fromCharCode(64 + Math.floor(number / 26))) + String.fromCharCode(65 + (number % 26));
}

const badge = (name) => el("span", { className: `badge own c${numberOf(name) % 8}`, title: name }, letterOf(name));

function matches(...texts) {
  const wanted = $("filter").value.trim().toLowerCase();
  return !wanted || texts.flat().join(" ").toLowerCase().includes(wanted);
}

const shown = (it) => matches(it.name, it.slice, it.capacity, it.zones, it.machineType, it.heldBy.map((by) => [by.job, by.team]));

// Slices

function drawSlices() {
  const byCluster = Map.groupBy(of("slice").sort(byName).filter(shown), (it) => it.context);
  keyed($("slices"), of("cluster").sort(byName), (it) => it.key, makeCluster, (section, cluster) => {
    section.querySelector(".problem").textContent = cluster.problem;
    const groups = [...Map.groupBy(byCluster.get(cluster.context) ?? [], (it) => it.group)];
    groups.sort(([, [a]], [, [b]]) => (b.chips + b.gpus > 0) - (a.chips + a.gpus > 0));
    keyed(section.lastElementChild, groups, ([name]) => name, makeGroup, updateGroup);
  });
}

function makeCluster(cluster) {
  const heading = el("h2", { title: cluster.context }, cluster.name, el("span", { className: "quiet" }, cluster.place && ` in ${cluster.place}`));
  return el("section", { "aria-label": cluster.name, className: "cluster" }, heading, el("p", { className: "strong problem" }), el("div"));
}

const makeGroup = ([name]) => el("section", { className: "group" }, el("h3", {}, name), el("p"), el("div", { className: "tiles", role: "group", "aria-label": name }));

function updateGroup(section, [, slices]) {
  const [, facts, tiles] = section.children;
  const [first] = slices;
  const free = sum(slices, (it) => hosts(it, (holder, state) => holder < 0 && state === "ready"));
  const units = first.gpus ? count(sum(slices, (it) => it.gpus), "GPU") : first.chips ? count(sum(slices, (it) => it.chips), "chip") : "";
  facts.textContent = [first.slice || first.gpu || first.machineType, first.multiHost && count(slices.length, "slice"), count(sum(slices, (it) => it.hosts), "host"),
    units, units && `${free.toLocaleString("en")} free`, first.capacity, first.zones.join(", ")].filter(Boolean).join(" · ");
  if ($("as").value === "table") return tiles.replaceChildren(tableOf(slices));
  tiles.querySelector("table")?.remove();
  keyed(tiles, slices, (it) => it.key, makeTile, (tile, it) => updateTile(tile, it, slices.length <= 8));
  if (!tiles.querySelector("[tabindex='0']")) tiles.firstElementChild.tabIndex = 0;
}

function makeTile(slice) {
  const tile = el("button", { className: "tile", type: "button", tabIndex: -1 });
  tile.addEventListener("click", () => select(slice.key));
  return tile;
}

function describe(slice) {
  const down = slice.hosts - hosts(slice, (_, state) => state === "ready");
  const held = slice.heldBy.map((it) => `${it.job}${it.team ? ` of ${it.team}` : ""}`).join(", ");
  return `${slice.name}: ${slice.slice || slice.gpu || slice.machineType}, ${slice.hostsReady} of ${count(slice.hosts, "host")} ready` +
    `${down ? `, ${down} not usable` : ""}, ${held ? `held by ${held}` : "free"}`;
}

function updateTile(tile, slice, wide) {
  const drawn = JSON.stringify([slice, $("by").value, wide]);
  tile.setAttribute("aria-pressed", selected === slice.key);
  if (tile.drawn === drawn) return;
  tile.drawn = drawn;
  tile.title = describe(slice);
  const down = slice.hosts - hosts(slice, (_, state) => state === "ready");
  const names = [...new Set(slice.heldBy.map(nameOf))];
  const marks = el("span", {}, ...(names.length > 2 ? [badge(names[0]), "…"] : names.map(badge)), down ? el("b", { className: "strong" }, ` ${down}!`) : "");
  const short = slice.name.startsWith(slice.group + "-") ? slice.name.slice(slice.group.length + 1) : "";
  const held = slice.heldBy.map((it) => it.job).join(", ");
  const face = el("span", { "aria-hidden": "true" }, el("span", { className: "top" }, el("span", { className: "quiet" }, wide ? slice.name : short), marks),
    cells(slice.cells, slice.hosts, (holder) => numberOf(nameOf(slice.heldBy[holder]))), wide && held ? el("span", { className: "holder" }, held) : "");
  tile.replaceChildren(el("span", { className: "spoken" }, tile.title), face);
}

/** One path for each holder and state, so that a page of 12,736 hosts has few elements. */
function cells(runs, total, number) {
  const size = total > 8 ? 7 : 13;
  const columns = total > 256 ? 64 : total <= 8 ? total : 2 ** Math.ceil(Math.log2(Math.sqrt(total)));
  const paths = new Map();
  let at = 0;
  for (const [length, holder, state] of runs) {
    const kind = state !== "ready" ? state : holder < 0 ? "free" : `own c${number(holder) % 8}`;
    for (let last = at + length; at < last; at++) {
      const [x, y, side] = [(at % columns) * size + 0.5, Math.floor(at / columns) * size + 0.5, size - 1.5];
      const shape = { down: `l${side} ${side}m0 ${-side}l${-side} ${side}`, cordoned: `h${side}v${side}h${-side}zm0 ${side}l${side} ${-side}` };
      paths.set(kind, `${paths.get(kind) ?? ""}M${x} ${y}${shape[state] ?? `h${side}v${side}h${-side}z`}`);
    }
  }
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const attributes = { width: columns * size, height: Math.ceil(total / columns) * size, "aria-hidden": "true" };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  for (const [kind, d] of paths) {
    const path = svg.appendChild(document.createElementNS(svg.namespaceURI, "path"));
    path.setAttribute("class", kind);
    path.setAttribute("d", d);
  }
  return svg;
}

function tableOf(slices) {
  const head = ["node pool", "ready", "capacity", "held by", "problems"].map((it) => el("th", { scope: "col" }, it));
  const rows = slices.map((it) => el("tr", {}, ...[it.name, `${it.hostsReady} of ${it.hosts}`, it.capacity,
    it.heldBy.map((by) => by.job).join(", "), it.problems.join("; ")].map((text) => el("td", {}, text))));
  return el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
}

// Who holds, who waits, queues, events

function drawTotals() {
  const slices = of("slice");
  const jobs = of("work");
  const free = (it) => hosts(it, (holder) => holder < 0) / (it.hosts || 1);
  const usd = sum(slices, (it) => it.usdPerHour ?? 0);
  const idle = sum(slices, (it) => (it.usdPerHour ?? 0) * free(it));
  const without = slices.filter((it) => it.noPrice);
  const about = slices.some((it) => it.estimated) ? "≈ " : "";
  const chips = sum(slices, (it) => it.chips);
  const ready = sum(slices, (it) => it.hostsReady);
  const rows = [["chips", chips.toLocaleString("en")], ["hosts ready", `${ready.toLocaleString("en")} of ${sum(slices, (it) => it.hosts).toLocaleString("en")}`],
    ["jobs running", jobs.filter((it) => !it.waits).length], ["jobs waiting", jobs.filter((it) => it.waits).length],
    [`list price per hour${without.length ? `, without ${count(without.length, "pool")}` : ""}`, `${about}${dollars(usd)}`], ["of it on free hosts", `${about}${dollars(idle)}`]];
  $("totals").title = [...new Set(without.map((it) => `${it.name}: ${it.noPrice}`))].slice(0, 9).join("\n");
  $("totals").replaceChildren(...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))));

  const held = new Map();
  for (const it of slices) for (const [number, holder] of it.cells) if (holder >= 0) {
    const name = nameOf(it.heldBy[holder]);
    held.set(name, (held.get(name) ?? 0) + number);
  }
  const most = [...held].sort(([, a], [, b]) => b - a);
  const items = most.slice(0, 16).map(([name, number]) => el("li", {}, badge(name), ` ${name} `, el("span", { className: "quiet" }, count(number, "host"))));
  if (most.length > 16) items.push(el("li", { className: "quiet" }, `and ${most.length - 16} more`));
  $("legend").replaceChildren(...items);
}

function drawWaiting() {
  const waiting = of("work").filter((it) => it.waits && matches(it.namespace, it.job, it.queue, it.why)).sort((a, b) => a.order - b.order);
  const several = of("cluster").length > 1;
  $("waiting-title").textContent = `Waiting (${waiting.length})`;
  keyed($("waiting"), waiting, (it) => it.key, (it) => {
    const button = el("button", { type: "button" });
    button.addEventListener("click", () => select(it.key));
    return el("li", {}, button);
  }, (item, it) => {
    const asks = [it.chips && count(it.chips, "chip"), it.gpus && count(it.gpus, "GPU")].filter(Boolean).join(", ") || `${it.cores} cores`;
    item.firstElementChild.replaceChildren(badge(nameOf({ job: `${it.namespace}/${it.job}`, team: it.queue })), " ", el("b", {}, `${it.namespace}/${it.job}`),
      el("span", { className: "quiet" }, ` ${asks}${it.priorityClass ? `, ${it.priorityClass}` : ""}${several ? ` · ${entries.get(`cluster/${it.context}`).name}` : ""}`), el("br"), it.why);
  });
}

function drawQueues() {
  const jobs = of("work");
  const several = of("cluster").length > 1;
  const queues = of("queue").sort(byName).filter((it) => matches(it.name, it.cohort));
  keyed($("queues"), queues, (it) => it.key, () => el("section"), (section, it) => {
    const own = jobs.filter((job) => job.context === it.context && job.queue === it.name);
    const waiting = own.filter((job) => job.waits).length;
    const parts = [el("h3", {}, it.name || "no queue", several ? ` · ${entries.get(`cluster/${it.context}`).name}` : "", el("span", { className: "quiet" }, ` ${own.length - waiting} running, ${waiting} waiting${it.cohort ? `, cohort ${it.cohort}` : ""}`))];
    if (it.message) parts.push(el("p", { className: "strong" }, it.message));
    for (const quota of it.quotas) {
      const unit = { "google.com/tpu": "chips", "nvidia.com/gpu": "GPUs", cpu: "cores" }[quota.resource];
      const most = Math.max(quota.nominal, quota.used) || 1;
      const bar = el("div", { className: "bar", "aria-hidden": "true" }, el("span"), el("span", { className: "borrowed" }));
      bar.children[0].style.width = `${(100 * (quota.used - quota.borrowed)) / most}%`;
      bar.children[1].style.width = `${(100 * quota.borrowed) / most}%`;
      parts.push(el("p", {}, `${quota.flavor}: ${quota.used} of ${quota.nominal} ${unit}${quota.borrowed ? `, ${quota.borrowed} borrowed` : ""}`), bar);
    }
    section.replaceChildren(...parts);
  });
}

function drawEvents() {
  const events = of("event").filter((it) => matches(it.about, it.reason, it.message)).sort((a, b) => b.time.localeCompare(a.time)).slice(0, 200);
  keyed($("events"), events, (it) => it.key, () => el("li"), (item, it) => {
    const time = el("time", { className: "quiet", dateTime: it.time }, it.time ? new Date(it.time).toLocaleTimeString() : "");
    const what = el("b", { className: it.type === "Warning" ? "strong" : "" }, `${it.type === "Warning" ? "! " : ""}${it.reason}`);
    item.replaceChildren(time, " ", what, ` ${it.about}: ${it.message}`);
  });
}

// Details

function select(key) {
  selected = key;
  draw();
  $("detail").hidden = false;
  $("detail").focus();
}

function close() {
  const former = document.querySelector(`[data-key="${CSS.escape(selected)}"]`);
  selected = null;
  draw();
  (former?.querySelector("button") ?? former)?.focus();
}

async function drawDetail() {
  const it = entries.get(selected);
  $("detail").hidden = !it;
  if (!it) return;
  const turn = ++reading;
  const body = it.job ? await whyOf(it) : sliceDetail(it);
  if (turn !== reading) return; // a later change is being drawn
  const button = el("button", { type: "button" }, "Close");
  button.addEventListener("click", close);
  $("detail").replaceChildren(el("header", {}, el("h2", { id: "detail-title" }, it.job ? `${it.namespace}/${it.job}` : it.name), button), ...body);
}

const list = (rows) => el("dl", {}, ...rows.filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));

function sliceDetail(it) {
  const jobs = it.heldBy.map((by) => {
    const button = el("button", { type: "button" }, badge(nameOf(by)), ` ${by.job}${by.team ? ` of ${by.team}` : ""}`);
    button.addEventListener("click", () => select(`work/${it.context}/${by.job}`));
    return el("li", {}, button);
  });
  const price = it.usdPerHour === null ? it.noPrice : `${it.estimated ? "≈ " : ""}${dollars(it.usdPerHour)} per hour by list price`;
  return [list([["hardware", [it.slice || it.gpu, it.machineType].filter(Boolean).join(", ")], ["hosts", `${it.hostsReady} of ${it.hosts} ready`],
    ["capacity", [it.capacity, ...it.zones].filter(Boolean).join(", ")], ["cost", price], ["problems", it.problems.join("; ")]]), el("h3", {}, jobs.length ? "held by" : "free"), el("ul", {}, ...jobs)];
}

/** What `tpuplane why` prints of the job. */
async function whyOf(it) {
  const query = new URLSearchParams({ context: it.context, kind: it.kind, namespace: it.namespace, job: it.job });
  const why = await fetch(`why?${query}`).then((answer) => answer.json(), () => null);
  if (!why) return [el("p", { className: "strong" }, "its cluster does not answer")];
  const helps = [el("h3", {}, "what would help"), el("ul", {}, ...why.helps.map((text) => el("li", {}, text)))];
  return [el("p", {}, why.title), list(why.rows), ...(why.helps.length ? helps : [])];
}

// Changes

let drawing = false;
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawSlices();
    drawTotals();
    drawWaiting();
    drawQueues();
    drawEvents();
    drawDetail();
  });
}

/** Arrow keys move over the slices of a group, as in a grid. */
function move(event) {
  const tile = event.target.closest(".tile");
  if (!tile) return;
  const tiles = [...document.querySelectorAll(".tile")];
  const middle = (it) => it.offsetLeft + it.offsetWidth / 2;
  const rows = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  let next = { ArrowLeft: tiles.indexOf(tile) - 1, ArrowRight: tiles.indexOf(tile) + 1, Home: 0, End: tiles.length - 1 }[event.key];
  if (rows) {
    const beyond = tiles.filter((it) => (it.offsetTop - tile.offsetTop) * rows > 0);
    const near = Math.min(...beyond.map((it) => Math.abs(it.offsetTop - tile.offsetTop)));
    const line = beyond.filter((it) => Math.abs(it.offsetTop - tile.offsetTop) === near);
    next = tiles.indexOf(line.sort((a, b) => Math.abs(middle(a) - middle(tile)) - Math.abs(middle(b) - middle(tile)))[0]);
  }
  if (next === undefined || !tiles[next]) return;
  event.preventDefault();
  for (const it of tiles[next].parentElement.children) it.tabIndex = -1;
  tiles[next].tabIndex = 0;
  tiles[next].focus();
}

$("slices").addEventListener("keydown", move);
$("filter").addEventListener("input", draw);
$("as").addEventListener("change", draw);
for (const [state, name] of [["free", "free"], ["down", "not ready"], ["cordoned", "cordoned"], ["missing", "missing"]])
  $("states").append(el("li", {}, cells([[1, -1, state === "free" ? "ready" : state]], 1), name));
$("by").addEventListener("change", () => (letters.clear(), draw()));
$("controls").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && selected) close();
  if (event.key === "/" && event.target.tagName !== "INPUT") event.preventDefault(), $("filter").focus();
});

const changes = new EventSource("changes");
changes.onmessage = ({ data }) => {
  const change = JSON.parse(data);
  if (change.all) entries.clear();
  for (const key of change.drop) entries.delete(key);
  for (const [key, it] of Object.entries(change.set)) entries.set(key, it);
  $("connection").textContent = of("cluster").some((it) => it.problem) ? "a cluster cannot be read" : "live";
  draw();
};
changes.onerror = () => ($("connection").textContent = "connection lost; trying again …");
