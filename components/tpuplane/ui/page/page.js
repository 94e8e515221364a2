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
  made.append(...children.filter((it) => it !== "" && it != null).map((it) => (typeof it === "string" ? local(it) : it)));
  return made;
}

/** A drawing of paths, each with its class. */
function drawing(attributes, paths) {
  const made = (tag, properties) => {
    const it = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(properties)) it.setAttribute(name, value);
    return it;
  };
  const svg = made("svg", attributes);
  svg.append(...paths.map(([kind, d]) => made("path", { class: kind, d })));
  return svg;
}

/** Keep the children of `parent` for the same keys, so that focus and scroll positions remain. A key has one child. */
function keyed(parent, items, make, update) {
  const old = new Map([...parent.children].map((it) => [it.dataset.key, it]));
  let at = parent.firstElementChild;
  for (const item of new Map(items.map((it) => [it.key, it])).values()) {
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
const works = () => of("works", (it) => `${it.kind} ${it.namespace}/${it.job} ${it.workload ?? ""}`); // a job can have several workloads
const place = (it) => (clusters.length > 1 ? ` · ${it.cluster.name}` : "");
const sum = (items, value) => items.reduce((total, it) => total + value(it), 0);
const count = (number, unit) => `${number.toLocaleString("en")} ${unit}${number === 1 ? "" : "s"}`;
const dollars = (usd, about) => (about ? "≈ $" : "$") + usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const hosts = (slice, test) => sum(slice.cells, ([number, holder, state]) => (test(holder, state) ? number : 0));
const exists = (holder, state) => state !== "missing";
const byKey = (a, b) => a.key.localeCompare(b.key, "en", { numeric: true });

// Times: the server sends UTC, and the page shows local time only

const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const DAY = { day: "numeric", month: "short" };
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };

function moment(iso) {
  const time = new Date(iso);
  const today = time.toDateString() === new Date().toDateString();
  return time.toLocaleString("en-GB", today ? CLOCK : { ...DAY, ...CLOCK });
}

const local = (text) => text.replace(ISO, moment);

/** How long ago a time is, in its largest unit. */
function age(iso) {
  const minutes = Math.max(0, (Date.now() - new Date(iso)) / 60_000);
  if (!iso || Number.isNaN(minutes)) return "";
  return minutes < 1 ? "now" : minutes < 90 ? `${Math.round(minutes)} min` : minutes < 2_160 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1_440)} d`;
}

// Teams

function numberOf(team) {
  if (!letters.has(team)) letters.set(team, letters.size);
  return letters.get(team);
}

/** The class of a team's colour. */
const colourOf = (team) => `own c${numberOf(team) % 8}`;

function badge(team) {
  const number = numberOf(team);
  const letter = (number < 26 ? "" : String.fromCharCode(64 + Math.floor(number / 26))) + String.fromCharCode(65 + (number % 26));
  return el("span", { className: `badge ${colourOf(team)}`, title: team }, letter);
}

/** Links to the logs, dashboards and page of a cluster, pool or job in Google's console; none for a twin. */
function consoleLinks(cluster, kind, name = "", namespace = "") {
  const start = name.length > cluster.nameStart ? `${name.slice(0, cluster.nameStart)}.*` : name;
  const named = (form) => form.replace("{name}", encodeURIComponent(start)).replace("{namespace}", encodeURIComponent(namespace));
  return Object.entries(cluster.links[kind] ?? {}).map(([what, form]) => outside(named(form), what));
}

const outside = (href, text) => el("a", { href, target: "_blank", rel: "noopener noreferrer" }, text);
const spaced = (links) => links.flatMap((link) => [" · ", link]);

function matches(...texts) {
  return texts.flat().join(" ").toLowerCase().includes($("filter").value.trim().toLowerCase());
}

// Drawing

function draw() {
  for (const part of [drawSlices, drawTotals, drawAttention, drawJobs, drawQueues, drawCubes, drawEvents]) part();
  if ($("detail").open) drawDetail();
}

/** Ages and the use of chips change without a change of a cluster. */
function tick() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  $("clock").textContent = `${new Date().toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}, local time (${zone})`;
  fetch("use").then((answer) => answer.json()).then(drawUse, () => {});
  draw();
}

addEventListener("DOMContentLoaded", () => {
  $("filter").addEventListener("input", draw);
  addEventListener("resize", draw);
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  const changes = new EventSource("clusters");
  let first = true;
  changes.onmessage = ({ data }) => {
    clusters = JSON.parse(data);
    $("connection").textContent = clusters.some((it) => it.unreachable) ? "a cluster cannot be read" : "live";
    if (first) tick();
    else draw();
    first = false;
  };
  changes.onopen = () => drawTimeline(null); // the server sends a timeline if there is one
  changes.addEventListener("timeline", ({ data }) => drawTimeline(JSON.parse(data)));
  changes.onerror = () => ($("connection").textContent = "connection lost; trying again …");
  setInterval(tick, 15_000);
});
