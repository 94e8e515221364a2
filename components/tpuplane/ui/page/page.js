"use strict";
// The page of `tpuplane ui`: it draws the clusters that the server sends, and keeps the elements of the same things.

let clusters = [];
let selected = null; // the key of the slice or job whose details are shown
const letters = new Map(); // the number of each team, which it keeps while the page is open
const $ = (id) => document.getElementById(id);

function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((it) => it !== "" && it != null));
  return made;
}

/** Keep the children of `parent` for the same keys, so that focus and scroll positions remain. */
function keyed(parent, items, make, update) {
  const old = new Map([...parent.children].map((it) => [it.dataset.key, it]));
  let at = parent.firstElementChild;
  for (const item of items) {
    let child = old.get(item.key);
    old.delete(item.key);
    if (!child) (child = make(item)).dataset.key = item.key;
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
    update(child, item);
  }
  for (const child of old.values()) child.remove();
}

/** The rows of a kind of all clusters, each with its cluster and a key. */
const of = (kind, name) => clusters.flatMap((cluster) => cluster[kind].map((it) => ({ ...it, cluster, key: `${kind} ${cluster.context} ${name(it)}` })));
const slices = () => of("slices", (it) => it.name);
const works = () => of("works", (it) => `${it.namespace}/${it.job}`);
const place = (it) => (clusters.length > 1 ? ` · ${it.cluster.name}` : "");
const sum = (items, value) => items.reduce((total, it) => total + value(it), 0);
const count = (number, unit) => `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;
const dollars = (usd, about) => (about ? "≈ $" : "$") + usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const hosts = (slice, test) => sum(slice.cells, ([number, holder, state]) => (test(holder, state) ? number : 0));
const hasChips = ({ members: [it] }) => it.chips + it.gpus > 0;
const byKey = (a, b) => a.key.localeCompare(b.key, "en", { numeric: true });

function numberOf(team) {
  if (!letters.has(team)) letters.set(team, letters.size);
  return letters.get(team);
}

function badge(team) {
  const number = numberOf(team);
  const letter = (number < 26 ? "" : String.fromCharCode(64 + Math.floor(number / 26))) + String.fromCharCode(65 + (number % 26));
  return el("span", { className: `badge own c${number % 8}`, title: team }, letter);
}

function matches(...texts) {
  return texts.flat().join(" ").toLowerCase().includes($("filter").value.trim().toLowerCase());
}

// Slices

function drawSlices() {
  const found = slices().sort(byKey).filter((it) => matches(it.name, it.slice, it.capacity, it.zones, it.machineType, it.heldBy.flatMap(Object.values)));
  keyed($("slices"), clusters.map((it) => ({ ...it, key: it.context })), makeCluster, (section, cluster) => {
    section.querySelector(".problem").textContent = cluster.problem;
    const groups = Map.groupBy(found.filter((it) => it.cluster.context === cluster.context), (it) => it.group);
    const ordered = [...groups].map(([key, members]) => ({ key, members })).sort((a, b) => hasChips(b) - hasChips(a));
    keyed(section.lastElementChild, ordered, makeGroup, updateGroup);
  });
}

function makeCluster(cluster) {
  const heading = el("h2", { title: cluster.context }, cluster.name, el("span", { className: "quiet" }, cluster.place && ` in ${cluster.place}`));
  return el("section", { "aria-label": cluster.name, className: "cluster" }, heading, el("p", { className: "strong problem" }), el("div"));
}

const makeGroup = ({ key }) => el("section", { className: "group" }, el("h3", {}, key), el("p"), el("div", { className: "tiles", role: "group", "aria-label": key }));

function updateGroup(section, { members }) {
  const [, facts, tiles] = section.children;
  const [first] = members;
  const free = sum(members, (it) => hosts(it, (holder, state) => holder < 0 && state === "ready"));
  const units = first.gpus ? count(sum(members, (it) => it.gpus), "GPU") : first.chips ? count(sum(members, (it) => it.chips), "chip") : "";
  facts.textContent = [first.slice || first.gpu || first.machineType, first.multiHost && count(members.length, "slice"), count(sum(members, (it) => it.hosts), "host"),
    units, units && `${free.toLocaleString("en")} free`, first.capacity, first.zones.join(", ")].filter(Boolean).join(" · ");
  keyed(tiles, members, makeTile, (tile, it) => updateTile(tile, it, members.length <= 8));
  if (!tiles.querySelector("[tabindex='0']")) tiles.firstElementChild.tabIndex = 0;
}

function makeTile(slice) {
  const tile = el("button", { className: "tile", type: "button", tabIndex: -1 });
  tile.addEventListener("click", () => select(slice.key));
  return tile;
}

function updateTile(tile, slice, wide) {
  const drawn = JSON.stringify([{ ...slice, cluster: "" }, wide]);
  if (tile.drawn === drawn) return;
  tile.drawn = drawn;
  const down = slice.hosts - hosts(slice, (_, state) => state === "ready");
  const held = slice.heldBy.map((it) => it.job).join(", ");
  tile.title = `${slice.name}: ${slice.slice || slice.gpu || slice.machineType}, ${slice.hostsReady} of ${count(slice.hosts, "host")} ready` +
    `${down ? `, ${down} not usable` : ""}, ${held ? `held by ${held}` : "free"}`;
  const teams = [...new Set(slice.heldBy.map((it) => it.team))];
  const marks = el("span", {}, ...teams.slice(0, 2).map(badge), teams.length > 2 ? "…" : "", down ? el("b", { className: "strong" }, ` ${down}!`) : "");
  const short = slice.name.startsWith(slice.group + "-") ? slice.name.slice(slice.group.length + 1) : "";
  const face = el("span", { "aria-hidden": "true" }, el("span", { className: "top" }, el("span", { className: "quiet" }, wide ? slice.name : short), marks),
    cells(slice.cells, slice.hosts, (holder) => numberOf(slice.heldBy[holder].team)), wide && held ? el("span", { className: "holder" }, held) : "");
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
  svg.setAttribute("width", columns * size);
  svg.setAttribute("height", Math.ceil(total / columns) * size);
  for (const [kind, d] of paths) {
    const path = svg.appendChild(document.createElementNS(svg.namespaceURI, "path"));
    path.setAttribute("class", kind);
    path.setAttribute("d", d);
  }
  return svg;
}

// Totals, who holds, who waits, queues, events

function drawTotals() {
  const all = slices();
  const jobs = works();
  const usd = sum(all, (it) => it.usdPerHour ?? 0);
  const idle = sum(all, (it) => ((it.usdPerHour ?? 0) * hosts(it, (holder) => holder < 0)) / (it.hosts || 1));
  const without = all.filter((it) => it.noPrice);
  const about = all.some((it) => it.estimated);
  const rows = [["chips", sum(all, (it) => it.chips).toLocaleString("en")],
    ["hosts ready", `${sum(all, (it) => it.hostsReady).toLocaleString("en")} of ${sum(all, (it) => it.hosts).toLocaleString("en")}`],
    ["jobs running", jobs.filter((it) => !it.waits).length], ["jobs waiting", jobs.filter((it) => it.waits).length],
    [`list price per hour${without.length ? `, without ${count(without.length, "pool")}` : ""}`, dollars(usd, about)], ["of it on free hosts", dollars(idle, about)]];
  $("totals").title = [...new Set(without.map((it) => `${it.name}: ${it.noPrice}`))].slice(0, 9).join("\n");
  $("totals").replaceChildren(...rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))));

  const held = new Map();
  for (const it of all) for (const [number, holder] of it.cells) if (holder >= 0) {
    const { team } = it.heldBy[holder];
    held.set(team, (held.get(team) ?? 0) + number);
  }
  const most = [...held].sort(([, a], [, b]) => b - a);
  const items = most.slice(0, 16).map(([team, number]) => el("li", {}, badge(team), ` ${team} `, el("span", { className: "quiet" }, count(number, "host"))));
  if (most.length > 16) items.push(el("li", { className: "quiet" }, `and ${most.length - 16} more`));
  $("legend").replaceChildren(...items);
}

function drawWaiting() {
  const waiting = works().filter((it) => it.waits && matches(it.namespace, it.job, it.queue, it.why));
  $("waiting-title").textContent = `Waiting (${waiting.length})`;
  keyed($("waiting"), waiting, (it) => {
    const button = el("button", { type: "button" });
    button.addEventListener("click", () => select(it.key));
    return el("li", {}, button);
  }, (item, it) => {
    const asks = [it.chips && count(it.chips, "chip"), it.gpus && count(it.gpus, "GPU")].filter(Boolean).join(", ") || `${it.cores} cores`;
    item.firstElementChild.replaceChildren(badge(it.queue || it.namespace), " ", el("b", {}, `${it.namespace}/${it.job}`),
      el("span", { className: "quiet" }, ` ${asks}${it.priorityClass ? `, ${it.priorityClass}` : ""}${place(it)}`), el("br"), it.why);
  });
}

function drawQueues() {
  const jobs = works();
  const queues = of("queues", (it) => it.name).filter((it) => matches(it.name, it.cohort));
  keyed($("queues"), queues, () => el("section"), (section, it) => {
    const own = jobs.filter((job) => job.cluster === it.cluster && job.queue === it.name);
    const waiting = own.filter((job) => job.waits).length;
    const parts = [el("h3", {}, it.name || "no queue", place(it), el("span", { className: "quiet" }, ` ${own.length - waiting} running, ${waiting} waiting${it.cohort ? `, cohort ${it.cohort}` : ""}`))];
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
  const events = of("events", (it) => `${it.reason} ${it.message}`).filter((it) => matches(it.about, it.reason, it.message));
  keyed($("events"), events.sort((a, b) => b.time.localeCompare(a.time)).slice(0, 200), () => el("li"), (item, it) => {
    const time = el("time", { className: "quiet", dateTime: it.time }, it.time ? new Date(it.time).toLocaleTimeString() : "");
    const what = el("b", { className: it.type === "Warning" ? "strong" : "" }, `${it.type === "Warning" ? "! " : ""}${it.reason}`);
    item.replaceChildren(time, " ", what, ` ${it.about}: ${it.message}`);
  });
}

// Details

function select(key) {
  selected = key;
  drawDetail();
  if (!$("detail").open) $("detail").showModal(); // Escape closes it, and the focus returns
  $("close").focus();
}

async function drawDetail() {
  const slice = slices().find((it) => it.key === selected);
  const job = works().find((it) => it.key === selected);
  if (!slice && !job) return $("detail").close();
  $("detail-title").textContent = slice ? slice.name : `${job.namespace}/${job.job}`;
  const key = selected;
  const body = slice ? sliceDetail(slice) : await whyOf(job);
  if (key === selected) $("detail").lastElementChild.replaceChildren(...body);
}

const list = (rows) => el("dl", {}, ...rows.filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));

function sliceDetail(it) {
  const jobs = it.heldBy.map((by) => {
    const button = el("button", { type: "button" }, badge(by.team), ` ${by.job} of ${by.team}`);
    button.addEventListener("click", () => select(`works ${it.cluster.context} ${by.job}`));
    return el("li", {}, button);
  });
  const price = it.usdPerHour === null ? it.noPrice : `${dollars(it.usdPerHour, it.estimated)} per hour by list price`;
  return [list([["hardware", [it.slice || it.gpu, it.machineType].filter(Boolean).join(", ")], ["hosts", `${it.hostsReady} of ${it.hosts} ready`],
    ["capacity", [it.capacity, ...it.zones].filter(Boolean).join(", ")], ["cost", price], ["problems", it.problems.join("; ")]]), el("h3", {}, jobs.length ? "held by" : "free"), el("ul", {}, ...jobs)];
}

/** What `tpuplane why` prints of the job. */
async function whyOf(it) {
  const query = new URLSearchParams({ context: it.cluster.context, kind: it.kind, namespace: it.namespace, job: it.job });
  const why = await fetch(`why?${query}`).then((answer) => answer.json(), () => null);
  if (!why) return [el("p", { className: "strong" }, "its cluster does not answer")];
  const helps = [el("h3", {}, "what would help"), el("ul", {}, ...why.helps.map((text) => el("li", {}, text)))];
  return [el("p", {}, why.title), list(why.rows), ...(why.helps.length ? helps : [])];
}

function draw() {
  for (const part of [drawSlices, drawTotals, drawWaiting, drawQueues, drawEvents]) part();
  if ($("detail").open) drawDetail();
}

/** Arrow keys move over the slices, up and down to the next one above or below. */
$("slices").addEventListener("keydown", (event) => {
  const tile = event.target.closest(".tile");
  if (!tile) return;
  const tiles = [...document.querySelectorAll(".tile")];
  const at = tiles.indexOf(tile);
  const inColumn = (it) => Math.abs(it.offsetLeft - tile.offsetLeft) < tile.offsetWidth / 2 && it.offsetTop !== tile.offsetTop;
  const next = { ArrowLeft: () => tiles[at - 1], ArrowRight: () => tiles[at + 1], Home: () => tiles[0], End: () => tiles.at(-1),
    ArrowUp: () => tiles.slice(0, at).findLast(inColumn), ArrowDown: () => tiles.slice(at).find(inColumn) }[event.key]?.();
  if (!next) return;
  event.preventDefault();
  for (const it of next.parentElement.children) it.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
});
$("filter").addEventListener("input", draw);
$("close").addEventListener("click", () => $("detail").close());
$("controls").addEventListener("submit", (event) => event.preventDefault());
for (const [state, name] of [["ready", "free"], ["down", "not ready"], ["cordoned", "cordoned"], ["missing", "missing"]])
  $("states").append(el("li", {}, cells([[1, -1, state]], 1), name));

const changes = new EventSource("clusters");
changes.onmessage = ({ data }) => {
  clusters = JSON.parse(data);
  $("connection").textContent = clusters.some((it) => it.problem) ? "a cluster cannot be read" : "live";
  draw();
};
changes.onerror = () => ($("connection").textContent = "connection lost; trying again …");
