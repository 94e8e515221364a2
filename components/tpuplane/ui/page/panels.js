"use strict";
// Totals, who holds, and the panels: what needs attention, jobs, queues, use of chips, events, a rehearsal.

function drawTotals() {
  const all = slices();
  const tpus = all.filter(isTpu);
  const jobs = works();
  const usd = sum(all, (it) => it.usdPerHour ?? 0);
  const idle = sum(all, (it) => ((it.usdPerHour ?? 0) * hosts(it, (holder, state) => holder < 0 && exists(holder, state))) / (hosts(it, exists) || 1));
  const without = all.filter((it) => it.noPrice);
  const about = all.some((it) => it.estimated);
  const rows = [["chips", sum(all, (it) => it.chips).toLocaleString("en")],
    ["TPU hosts ready", `${sum(tpus, (it) => it.hostsReady).toLocaleString("en")} of ${sum(tpus, (it) => it.hosts).toLocaleString("en")}`],
    ["jobs running", jobs.filter((it) => !it.waits).length], ["jobs waiting", jobs.filter((it) => it.waits && !it.stuck).length],
    ["jobs that cannot run", jobs.filter((it) => it.stuck).length],
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

/** A list of buttons; its section is hidden if it is empty, unless it is always shown. */
function drawList(id, title, items, content, always = false) {
  $(`${id}-title`).textContent = `${title} (${items.length.toLocaleString("en")})`;
  $(id).parentElement.hidden = !items.length && !always;
  keyed($(id), items, (it) => {
    const button = el("button", { type: "button" });
    button.addEventListener("click", () => select(it.key));
    return el("li", {}, button);
  }, (item, it) => {
    const drawn = content(it);
    const text = drawn.map((part) => part.outerHTML ?? part).join();
    if (item.drawn !== text) item.firstElementChild.replaceChildren(...drawn);
    item.drawn = text;
  });
}

function drawAttention() {
  const found = slices().filter((it) => (it.unusual || it.problems.length) && matches(it.name, it.unusual, it.problems)).sort(byKey);
  drawList("attention", "Needs attention", found.sort((a, b) => isBad(b) - isBad(a) || Boolean(b.unusual) - Boolean(a.unusual)), (it) =>
    [el("b", {}, it.name || "no node pool"), el("span", { className: "quiet" }, place(it)), el("br"), el("span", { className: isBad(it) ? "strong" : "" }, it.unusual || it.problems.join("; "))]);
}

function drawJobs() {
  const jobs = works().filter((it) => matches(it.namespace, it.job, it.queue, it.why, it.nodePools));
  const asks = (it) => [it.chips && count(it.chips, "chip"), it.gpus && count(it.gpus, "GPU")].filter(Boolean).join(", ") || count(it.cores, "core");
  const content = (it) => {
    const about = [it.queue ? `queue ${it.queue}` : it.waits || "workload" in it ? "no queue" : "outside of queues", it.priorityClass || ("priority" in it && `priority ${it.priority}`), it.kind,
      clusters.length > 1 && it.cluster.name, !it.waits && it.nodePools.length && `on ${it.nodePools.slice(0, 3).join(", ")}${it.nodePools.length > 3 ? ` and ${it.nodePools.length - 3} more` : ""}`];
    return [el("span", { className: "row" }, el("span", {}, badge(it.queue || it.namespace), " ", el("b", {}, `${it.namespace}/${it.job}`)), el("span", {}, asks(it), el("b", { title: moment(it.since) }, ` ${age(it.since)}`))),
      el("span", { className: "quiet row" }, about.filter(Boolean).join(" · ")), el("span", { className: it.stuck ? "strong" : "" }, it.why)];
  };
  drawList("stuck", "Cannot run without a change", jobs.filter((it) => it.stuck), content);
  drawList("waiting", "Waiting", jobs.filter((it) => it.waits && !it.stuck), content, true);
  drawList("running", "Running", jobs.filter((it) => !it.waits).sort((a, b) => b.chips - a.chips || byKey(a, b)), content, true);
}

function drawQueues() {
  const jobs = works();
  const used = (it) => sum(it.quotas, (quota) => quota.used);
  const queues = of("queues", (it) => it.name).filter((it) => matches(it.name, it.cohort)).sort((a, b) => used(b) - used(a));
  $("queues").parentElement.hidden = !queues.length;
  keyed($("queues"), queues, () => el("section"), (section, it) => {
    const own = jobs.filter((job) => job.cluster === it.cluster && job.queue === it.name);
    const waiting = own.filter((job) => job.waits).length;
    const parts = [el("h3", {}, it.name || "no queue", place(it), el("span", { className: "quiet" }, ` ${own.length - waiting} running, ${waiting} waiting`))];
    if (it.message) parts.push(el("p", { className: "strong" }, it.message));
    for (const quota of it.quotas) {
      const most = Math.max(quota.nominal, quota.used) || 1;
      const bar = el("div", { className: "bar", "aria-hidden": "true" }, el("span"), el("span", { className: "borrowed" }));
      bar.children[0].style.width = `${(100 * (quota.used - quota.borrowed)) / most}%`;
      bar.children[1].style.width = `${(100 * quota.borrowed) / most}%`;
      parts.push(el("p", {}, `${quota.flavor}: ${quota.text}`), bar);
    }
    section.replaceChildren(...parts);
  });
}

/** A table with a name in each row; a row without values is a heading. */
const tableOf = (head, rows) => el("table", {}, el("thead", {}, el("tr", {}, ...head.map((it) => el("th", { scope: "col" }, it)))),
  el("tbody", {}, ...rows.map(([name, ...values]) => el("tr", {}, el("th", { scope: "row", className: values.length ? "" : "heading" }, name), ...values.map((it) => el("td", {}, it))))));

/** The slices that GKE's slice controller makes of cubes. */
function drawCubes() {
  const found = of("dynamicSlices", (it) => it.name).filter((it) => matches(it.name, it.topology, it.state, it.message, it.job)).sort(byKey);
  $("cubes").parentElement.hidden = !found.length;
  const rows = found.map((it) => [`${it.name}${place(it)}`, it.topology, el("span", { className: it.message ? "strong" : "" }, [it.state, it.message].filter(Boolean).join(": ")),
    it.partitions.map((partition) => partition.slice(0, 8)).join(", "), it.job]);
  $("cubes").replaceChildren(tableOf(["slice", "topology", "state", "partitions", "job"], rows));
}

/** The chart has chips held by teams as areas, free chips above them, and waiting chips as a line. */
function drawUse({ since, teams, idle, down, named, points }) {
  $("use-title").textContent = local(`Use of chips since ${since}`);
  const [width, height] = [480, 90];
  const [begin, end] = [points[0], points.at(-1)].map((it) => new Date(it?.time));
  const most = Math.max(1, ...points.map((it) => sum(it.held, (chips) => chips) + it.idle)); // the demand can be many times as high
  const wanted = Math.max(0, ...points.map((it) => it.waiting));
  const x = (it) => (width * (new Date(it.time) - begin)) / (end - begin || 1);
  const y = (chips) => (height - (height * chips) / most).toFixed(1);
  const line = (value, from = points) => from.map((it) => `${x(it).toFixed(1)} ${y(value(it))}`).join("L");
  const upTo = (at) => (it) => sum(it.held.slice(0, at), (chips) => chips);
  const area = (low, high) => `M${line(high)}L${line(low, points.toReversed())}z`;
  const shapes = named.map((team, at) => [team === "others" ? "own" : colourOf(team), area(upTo(at), upTo(at + 1))]);
  const held = upTo(named.length);
  const paths = [...shapes, ["unused", area(held, (it) => held(it) + it.idle)], ["demand", `M${line((it) => Math.min(it.waiting, most))}`]];
  const svg = drawing({ viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, points.length > 1 ? paths : []);
  const number = (it) => it.toLocaleString("en", { maximumFractionDigits: it < 10 ? 2 : 0 });
  const rows = [...teams.map((it) => [el("span", {}, badge(it.team), ` ${it.team}`), it.held, it.waiting]), ["free", idle, null], ["not usable", down, null]];
  const table = tableOf(["chip-hours", "held", "waiting"], rows.map(([name, ...values]) => [name, ...values.map((it) => (it === null ? "" : number(it)))]));
  $("use").replaceChildren(svg, el("p", { className: "quiet" }, `Areas: chips held by each team, then free ones. Dashed line: chips that jobs wait for, up to ${wanted.toLocaleString("en")}. Top: ${count(most, "chip")}.`), table);
}

function drawEvents() {
  const events = of("events", (it) => `${it.reason} ${it.message}`).filter((it) => matches(it.about, it.reason, it.message));
  keyed($("events"), events.sort((a, b) => b.time.localeCompare(a.time)).slice(0, 200), () => el("li"), (item, it) => {
    const time = el("time", { className: "quiet", dateTime: it.time }, it.time);
    const what = el("b", { className: it.type === "Warning" ? "strong" : "" }, `${it.type === "Warning" ? "! " : ""}${it.reason}`);
    item.replaceChildren(time, " ", what, ` ${it.about}: ${it.message}`);
  });
}

/** A rehearsal of a twin: its picture, figures and events. An SVG in an image runs no script and loads nothing. */
function drawTimeline(found) {
  $("timeline").hidden = !found;
  const { heading = "", picture, unmet = [], tables = [] } = found ?? {};
  $("timeline-title").textContent = local(heading);
  const image = picture && el("img", { src: `data:image/svg+xml,${encodeURIComponent(picture)}`, alt: "Chart of the chips over time: of each team's jobs, of waiting jobs, and of Ready and lost hosts" });
  const parts = tables.map(({ caption, rows: [head, ...rows] }) =>
    el("section", {}, el("h3", {}, caption), el("div", { className: head[0], tabIndex: 0, role: "group", "aria-label": caption }, tableOf(head, rows))));
  $("timeline").lastElementChild.replaceChildren(...unmet.map((it) => el("p", { className: "strong" }, `not as expected: ${it}`)), ...(image ? [image] : []), ...parts);
}
