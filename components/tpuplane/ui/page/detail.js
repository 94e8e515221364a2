"use strict";
// The details of a slice or a job, and logs of its pods.

function select(key) {
  selected = key;
  $("log").hidden = true;
  drawDetail();
  if (!$("detail").open) $("detail").showModal(); // Escape closes it, and the focus returns
  $("close").focus();
}

async function drawDetail() {
  const slice = slices().find((it) => it.key === selected);
  const job = works().find((it) => it.key === selected);
  if (!slice && !job) return $("detail").close();
  $("detail-title").textContent = slice ? slice.name || "no node pool" : `${job.namespace}/${job.job}`;
  const key = selected;
  const why = job && (await whyOf(job));
  const drawn = JSON.stringify([key, why ?? { ...slice, cluster: "" }]);
  if (key !== selected || $("facts").drawn === drawn) return;
  $("facts").drawn = drawn;
  $("facts").replaceChildren(...(slice ? sliceDetail(slice) : jobDetail(job, why)));
}

const list = (rows) => el("dl", {}, ...rows.filter(([, text]) => text).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));

function sliceDetail(it) {
  const jobs = it.heldBy.map((by) => {
    const job = works().find((work) => work.cluster.context === it.cluster.context && `${work.namespace}/${work.job}` === by.job);
    const button = el("button", { type: "button", disabled: !job }, badge(by.team), ` ${by.job} of ${by.team}`);
    button.addEventListener("click", () => select(job.key));
    return el("li", {}, button);
  });
  const price = it.usdPerHour === null ? it.noPrice : `${dollars(it.usdPerHour, it.estimated)} per hour by list price`;
  const state = [it.unusual || it.state, !it.unusual && it.since && `since ${it.since}`].filter(Boolean).join(" ");
  const declared = { true: "yes", false: "no" }[it.declared] ?? "";
  const links = it.name ? consoleLinks(it.cluster, "pool", it.name) : [];
  return [list([["state", state], ["hardware", [it.slice || it.gpu, it.machineType].filter(Boolean).join(", ")], ["hosts", `${it.hostsReady} of ${it.hosts} ready`],
    ["capacity", [it.capacity, ...it.zones].filter(Boolean).join(", ")], ["version", it.version], ["declared in the stack file", declared], ["cost", price], ["problems", it.problems.join("; ")]]),
    ...inConsole(links), el("h3", {}, jobs.length ? "held by" : "free"), el("ul", {}, ...jobs)];
}

const inConsole = (links) => (links.length ? [el("p", {}, "Google Cloud console", ...spaced(links))] : []);

/** What `tpuplane why` prints of the job, and its pods. */
function whyOf(it) {
  const query = new URLSearchParams({ context: it.cluster.context, kind: it.kind, namespace: it.namespace, job: it.job });
  return fetch(`why?${query}`).then((answer) => answer.json(), () => null);
}

function jobDetail(job, why) {
  if (!why) return [el("p", { className: "strong" }, "its cluster does not answer")];
  const helps = [el("h3", {}, "what would help"), el("ul", {}, ...why.helps.map((text) => el("li", {}, text)))];
  const pods = why.pods.map((it) => el("li", {}, `${it.name} ${it.ready ? "" : it.node ? "(not ready) " : "(no node) "}`, ...it.containers.map((container) => {
    const button = el("button", { type: "button" }, `log of ${container}`);
    button.addEventListener("click", () => showLog(job, it.name, container));
    return button;
  })));
  if (why.more) pods.push(el("li", { className: "quiet" }, `and ${count(why.more, "more pod")}`));
  const links = why.pods.some((it) => it.node) ? consoleLinks(job.cluster, "job", job.job, job.namespace) : [];
  return [el("p", {}, why.title), list(why.rows), ...inConsole(links), ...(why.helps.length ? helps : []), ...(pods.length ? [el("h3", {}, "pods"), el("ul", { className: "pods" }, ...pods)] : [])];
}

async function showLog(job, pod, container) {
  const query = new URLSearchParams({ context: job.cluster.context, namespace: job.namespace, pod, container });
  const [title, text] = $("log").children;
  $("log").hidden = false;
  title.textContent = `The end of the log of ${pod}, container ${container}`;
  text.textContent = "reading …";
  const answer = await fetch(`log?${query}`).then((it) => (it.ok ? it.text() : "The pod does not exist any more."), () => "The page's server does not answer.");
  text.textContent = answer || "The log is empty.";
  text.scrollTop = text.scrollHeight;
  text.focus();
}

$("close").addEventListener("click", () => $("detail").close());
