"use strict";
// The slices: a tile for each node pool, as large as the window allows.

const SIZES = [96, 80, 64, 56, 48, 40, 34, 30, 26, 22, 18, 15, 13, 11, 9, 8, 7, 6, 5]; // of a host, in pixels
const READABLE = 11; // with fewer than a thousand hosts, rather scroll than be smaller
const isBad = (it) => /ERROR|ABSENT|DEGRADED/.test(it.state);
const isTpu = (it) => Boolean(it.generation || it.chips);
const hasChips = ({ members: [it] }) => isTpu(it) || it.gpus > 0;
const isWide = (members) => members.length <= 8;
const columns = (total) => (total > 256 ? 64 : total <= 8 ? Math.max(total, 1) : 2 ** Math.ceil(Math.log2(Math.sqrt(total))));

function drawSlices() {
  const found = slices().sort(byKey).filter((it) => matches(it.name, it.slice, it.capacity, it.zones, it.machineType, it.unusual, it.heldBy.flatMap(Object.values)));
  const drawn = clusters.map((it) => {
    const groups = Map.groupBy(found.filter((pool) => pool.cluster.context === it.context), (pool) => pool.group);
    return { ...it, key: it.context, groups: [...groups].map(([key, members]) => ({ key, members })).sort((a, b) => hasChips(b) - hasChips(a)) };
  });
  const size = fitting(drawn.map((it) => it.groups));
  keyed($("slices"), drawn, makeCluster, (section, it) => {
    const [, about, problem, groups] = section.children;
    about.replaceChildren(...aboutCluster(it));
    problem.textContent = it.problem;
    keyed(groups, it.groups, makeGroup, (group, { members }) => updateGroup(group, members, size));
  });
}

/** The largest size of a host with which all tiles are in the window. */
function fitting(sections) {
  const width = $("slices").clientWidth;
  const below = innerWidth < 1_600 ? 120 : 16; // in narrower windows other panels are below the slices
  const few = sum(sections.flat(), ({ members }) => sum(members, (it) => it.hosts)) < 1_000;
  const sizes = few ? SIZES.filter((it) => it >= READABLE) : SIZES;
  const height = innerHeight - $("slices").offsetTop - below;
  return sizes.find((size) => packed(sections.map((groups) => {
    const [across, down] = packed(groups.map(({ members }) => groupBox(members, sideOf(members, size), width)), width + 28); // no gap after the last one
    return [Math.max(across, 416) + 4, down + 50];
  }), width)[1] <= height) ?? sizes.at(-1);
}

/** The width and height of the tiles of a group, with its heading. */
function groupBox(members, side, width) {
  const wide = isWide(members);
  const tiles = members.map((it) => [Math.max(columns(it.hosts) * side + 15, wide ? 105 : 42), Math.ceil(it.hosts / columns(it.hosts)) * side + (wide ? 46 : 30)]);
  const [across, down] = packed(tiles, width);
  return [Math.max(across, 224) + 28, down + (across > 400 ? 48 : 66)];
}

/** Hosts without TPUs or GPUs are small. */
const sideOf = (members, size) => (hasChips({ members }) ? size : Math.min(size, 9));

/** The width and height of boxes in rows. */
function packed(boxes, width) {
  let [x, y, row, widest] = [0, 0, 0, 0];
  for (const [across, down] of boxes) {
    if (x && x + across > width) [x, y, row] = [0, y + row, 0];
    [x, row] = [x + across, Math.max(row, down)];
    widest = Math.max(widest, x);
  }
  return [widest, y + row];
}

function makeCluster(cluster) {
  const heading = el("h2", { title: cluster.context }, cluster.name, el("span", { className: "quiet" }, cluster.place && ` in ${cluster.place}`));
  return el("section", { "aria-label": cluster.name, className: "cluster" }, heading, el("p", { className: "quiet about" }), el("p", { className: "strong problem" }), el("div"));
}

/** Version, state and running operations of a cluster, where its node pools were read, and Google's console. */
function aboutCluster(cluster) {
  const { gke, poolsFrom, slices: pools } = cluster;
  const versions = [...new Set(pools.map((it) => it.version))].filter(Boolean).join(", ");
  const facts = gke
    ? [`GKE ${gke.version}${gke.channel ? `, ${gke.channel}` : ""}`, gke.state !== "RUNNING" && `${gke.state} ${gke.message}`, ...gke.operations.map((it) => `${it.type} of ${it.about} since ${it.since}`)]
    : [versions && `nodes ${versions}`];
  const links = [...(gke?.console ? [outside(gke.console, "Google Cloud console")] : []), ...consoleLinks(cluster, "cluster")];
  return [el("span", {}, [...facts, poolsFrom && `pools from ${poolsFrom}`].filter(Boolean).join(" · ")), ...spaced(links)];
}

const makeGroup = ({ key }) => el("section", { className: "group" }, el("h3", {}, key || "no node pool"), el("p"), el("div", { className: "tiles", role: "group", "aria-label": key || "no node pool" }));

function updateGroup(section, members, size) {
  const [, facts, tiles] = section.children;
  const [first] = members;
  const side = sideOf(members, size);
  const free = sum(members, (it) => hosts(it, (holder, state) => holder < 0 && state === "ready"));
  const total = sum(members, (it) => it.hosts);
  const units = first.gpus ? count(sum(members, (it) => it.gpus), "GPU") : isTpu(first) ? count(sum(members, (it) => it.chips), "chip") : "";
  const what = [first.slice || first.gpu || first.machineType, first.multiHost && members.length > 1 && count(members.length, "slice"), units,
    units ? `${free.toLocaleString("en")} of ${count(total, "host")} free` : count(total, "host"), first.capacity, first.zones.join(", ")];
  facts.textContent = what.filter(Boolean).join(" · ").replaceAll("-", "\u2011"); // a name is not broken at its hyphens
  keyed(tiles, members, makeTile, (tile, it) => updateTile(tile, it, isWide(members), side));
  if (!tiles.querySelector("[tabindex='0']")) tiles.firstElementChild.tabIndex = 0;
}

function makeTile(slice) {
  const tile = el("button", { className: "tile", type: "button", tabIndex: -1 });
  tile.addEventListener("click", () => select(slice.key));
  return tile;
}

function updateTile(tile, slice, wide, size) {
  const drawn = JSON.stringify([{ ...slice, cluster: "" }, wide, size]);
  if (tile.drawn === drawn) return;
  tile.drawn = drawn;
  const down = slice.hosts - hosts(slice, (_, state) => state === "ready");
  const held = slice.heldBy.map((it) => it.job).join(", ");
  const unusual = slice.state && slice.state !== "RUNNING" ? slice.state : "";
  tile.classList.toggle("bad", isBad(slice));
  tile.classList.toggle("moving", Boolean(unusual) && !isBad(slice));
  tile.title = local(`${slice.name}: ${slice.slice || slice.gpu || slice.machineType}, ${slice.hostsReady} of ${count(slice.hosts, "host")} ready` +
    `${down ? `, ${down} not usable` : ""}, ${held ? `held by ${held}` : "free"}${slice.unusual ? `, ${slice.unusual}` : ""}`);
  const teams = [...new Set(slice.heldBy.map((it) => it.team))];
  const marks = el("span", {}, ...teams.slice(0, 2).map(badge), teams.length > 2 ? "…" : "", down ? el("b", { className: "strong" }, ` ${down}!`) : "");
  const short = slice.name.startsWith(slice.group + "-") ? slice.name.slice(slice.group.length + 1) : "";
  const below = unusual ? el("b", { className: `holder ${isBad(slice) ? "strong" : ""}` }, unusual.replaceAll("_", " ").toLowerCase()) : wide ? el("span", { className: "holder" }, held || (slice.hosts ? "" : "no hosts now")) : "";
  const face = el("span", { "aria-hidden": "true" }, el("span", { className: "top" }, el("span", { className: "quiet" }, wide ? slice.name : short), marks),
    cells(slice.cells, slice.hosts, (holder) => colourOf(slice.heldBy[holder].team), size), below);
  tile.replaceChildren(el("span", { className: "spoken" }, tile.title), face);
}

/** One path for each holder and state, so that a page of 12,736 hosts has few elements. */
function cells(runs, total, colour, size = 13) {
  const across = columns(total);
  const paths = new Map();
  const gap = size > 9 ? 2.5 : 1.5;
  let at = 0;
  for (const [length, holder, state] of runs) {
    const kind = state !== "ready" ? state : holder < 0 ? "free" : colour(holder);
    for (let last = at + length; at < last; at++) {
      const [x, y, side] = [(at % across) * size + 0.5, Math.floor(at / across) * size + 0.5, size - gap];
      const shape = { down: `l${side} ${side}m0 ${-side}l${-side} ${side}`, cordoned: `h${side}v${side}h${-side}zm0 ${side}l${side} ${-side}` };
      paths.set(kind, `${paths.get(kind) ?? ""}M${x} ${y}${shape[state] ?? `h${side}v${side}h${-side}z`}`);
    }
  }
  return drawing({ width: across * size, height: Math.ceil(total / across) * size }, [...paths]);
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
for (const [state, name] of [["ready", "free"], ["down", "not usable"], ["cordoned", "cordoned"], ["missing", "missing"]])
  $("states").append(el("li", {}, cells([[1, -1, state]], 1), name));
