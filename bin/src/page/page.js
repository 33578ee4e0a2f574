"use strict";

// The page of a node. It polls the node that served it once a second for the state of the cluster, and searches through it.

const POLL_MS = 1000;
const SLOWEST_POLL_MS = 5000;
const ANSWER_LIMIT_MS = 4000;
const SEARCH_LIMIT_MS = 35000;
const RETRY_SEARCH_FOR_MS = 60000;
const PAGE = 10;
const CHANGES = 10;
const isDemo = document.body.dataset.mode === "demo";
const at = (id) => document.getElementById(id);

// ---- asking

async function ask(url, limit, options = {}) {
  const timer = new AbortController();
  const stop = setTimeout(() => timer.abort(), limit);
  options.signal?.addEventListener("abort", () => timer.abort());
  try {
    const response = await fetch(url, { ...options, signal: timer.signal, cache: "no-store", credentials: "omit" });
    const body = await response.json().catch(() => null);
    return { response, body };
  } finally {
    clearTimeout(stop);
  }
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// Changes the document only where the text differs, so that a screen reader announces only news.
function say(id, text) {
  if (at(id).textContent !== text) at(id).textContent = text;
}

function ago(time) {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
  if (!Number.isFinite(seconds)) return "";
  if (seconds < 120) return `for ${seconds}\u00a0s`;
  if (seconds < 7200) return `for ${Math.floor(seconds / 60)}\u00a0min`;
  if (seconds < 172800) return `for ${Math.floor(seconds / 3600)}\u00a0h`;
  return `for ${Math.floor(seconds / 86400)}\u00a0days`;
}

const clock = (date) => date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

// ---- the cluster as it stands

let status = null;
let workers = [];
let shares = null;
let demoNodes = [];
let answeredAt = null;
let pollMs = POLL_MS;
let failures = 0;

async function poll() {
  try {
    const { body } = await ask("/status", ANSWER_LIMIT_MS);
    if (!body || !body.node) throw new Error("no status");
    if (failures > 1) note("this node answers again");
    failures = 0;
    pollMs = POLL_MS;
    answeredAt = Date.now();
    compare(status, body);
    status = body;
    workers = await currentWorkers();
  } catch {
    failures += 1;
    if (failures === 2) note("this node does not answer");
    pollMs = Math.min(SLOWEST_POLL_MS, pollMs * 1.5);
  }
  if (isDemo) await pollDemo();
  show();
  setTimeout(poll, pollMs);
}

// Only the leader knows the workers, so ask it.
async function currentWorkers() {
  shares = null;
  if (status.role === "leader" || !status.leader?.address) return status.workers;
  const { body } = await ask(`${location.protocol}//${status.leader.address}/status`, ANSWER_LIMIT_MS).catch(() => ({}));
  if (body?.role !== "leader") return [];
  shares = body.shares;
  return body.workers;
}

// Any node of the demo knows the state of all, so this works even after the node that served this page was killed.
async function pollDemo() {
  for (const base of demoBases()) {
    try {
      const { body } = await ask(`${base}/demo/nodes`, ANSWER_LIMIT_MS);
      if (!Array.isArray(body?.nodes)) continue;
      for (const node of body.nodes) {
        const before = demoNodes.find((other) => other.number === node.number);
        if (before && before.running !== node.running) note(`${node.id} was ${node.running ? "started" : "killed"}`);
      }
      demoNodes = body.nodes;
      return;
    } catch { /* the next one may answer */ }
  }
}

function demoBases() {
  const others = demoNodes.filter((node) => node.running && node.address !== status?.node.address);
  return [...(failures ? [] : [""]), ...others.map((node) => `${location.protocol}//${node.address}`), ...(failures ? [""] : [])];
}

function compare(before, now) {
  if (!before) return;
  if (before.role !== now.role) note(now.role === "none" ? "this node has no role" : `this node is ${now.role}`);
  const leads = (seen) => (seen.leader ? `${seen.leader.id}/${seen.leader.epoch}` : "");
  if (leads(before) !== leads(now)) note(now.leader ? `${now.leader.id} leads${now.leader.epoch === null ? "" : `, epoch ${now.leader.epoch}`}` : "no leader is known");
  if (before.store.state !== now.store.state) note(`store ${now.store.state}`);
}

function note(text) {
  const line = element("li");
  const time = element("time", clock(new Date()));
  line.append(time, element("span", text));
  at("changes").prepend(line);
  at("changes-title").hidden = false;
  while (at("changes").children.length > CHANGES) at("changes").lastChild.remove();
}

function show() {
  showSilence();
  if (status) showStatus();
  if (isDemo) showDemoNodes();
  else showWorkers();
}

function showSilence() {
  const silent = failures > 1;
  if (silent) {
    const since = answeredAt === null ? "this page was opened" : clock(new Date(answeredAt));
    const other = isDemo ? "Start it again below, or carry on: the other nodes answer." : "You can open another node from the list; this page keeps trying.";
    say("silent", `This node has not answered since ${since}. ${other}`);
  }
  at("silent").hidden = !silent;
}

function showStatus() {
  const role = failures > 1 ? "down" : status.role;
  const words = { none: "no role", worker: "worker", leader: "leader", down: "no answer" };
  say("role", words[role] ?? role);
  at("role").className = `chip ${role}`;
  say("cluster", `· ${status.cluster}`);
  document.title = `Rolecall · ${status.node.id}`;
  const leader = status.leader;
  say("headline", failures > 1 ? status.node.id
    : status.role === "leader" ? `${status.node.id} leads`
    : leader ? `${status.node.id} · led by ${leader.id}` : `${status.node.id} · no leader is known`);

  describe("node", status.node.id, status.node.address);
  describe("serves", words[role] ?? role, role === "down" ? "" : ago(status.since));
  if (!leader) describe("leader", "unknown", "searches are answered once there is a leader");
  else if (leader.foreign) describe("leader", leader.id, "not a Rolecall node, so it answers no searches");
  else describe("leader", leader.id, leader.address, leader.address);
  const epoch = status.epoch ?? leader?.epoch;
  describe("epoch", epoch ?? "none yet", status.valid_for_ms === null ? "" : `valid for ${(status.valid_for_ms / 1000).toFixed(1)} s unless renewed`);
  describe("store", `${status.store.kind}, ${status.store.state}`, ago(status.store.since));
  showShares(status.role === "leader" ? status.shares : shares);
  const skipped = status.skipped ?? { candidates: 0, members: 0 };
  at("skipped-row").hidden = !(skipped.candidates || skipped.members);
  say("skipped", `${skipped.candidates} candidates and ${skipped.members} members that could not be read`);
}

// Only the leader knows the copies of all shards; each node knows what it holds itself.
function showShares(shares) {
  const lacking = shares ? [[shares.building, "being built"], [shares.one_copy, "on one node only"], [shares.none, "on no node"]] : [];
  const detail = lacking.filter(([count]) => count).map(([count, words]) => `${count} ${words}`).join(", ");
  if (shares) describe("shares", `${shares.whole} of ${shares.shards} whole`, detail);
  else describe("shares", "unknown", "only the leader knows");
  const index = status.index;
  at("index-row").hidden = !index;
  if (!index) return;
  const counted = (count, what) => `${count.toLocaleString()} ${what}${count === 1 ? "" : "s"}`;
  const held = index.shards ? `${counted(index.shards, "shard")}, ${counted(index.documents, "document")}` : "nothing";
  describe("index", held, index.shards === index.wanted ? ""
    : `${counted(index.wanted, "shard")} wanted${index.shards > index.wanted ? ", the others kept for a while" : ""}`);
}

function describe(id, text, detail, address) {
  const key = JSON.stringify([text, address ?? ""]);
  const place = at(id);
  if (place.dataset.key !== key) {
    place.dataset.key = key;
    place.replaceChildren(address && address !== status.node.address ? link(text, address) : element("span", text), element("small"));
  }
  const small = place.querySelector("small");
  if (small.textContent !== (detail ?? "")) small.textContent = detail ?? "";
}

function link(text, address) {
  const made = element("a", text);
  made.href = `${location.protocol}//${address}/`;
  return made;
}

function rows(key, make) {
  const list = at("members");
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const focused = document.activeElement?.dataset?.act;
  list.replaceChildren(...make());
  if (focused) list.querySelector(`[data-act="${focused}"]`)?.focus();
}

function showWorkers() {
  if (!status) return;
  const list = workers.map(({ id, address }) => ({ id, address }));
  rows(JSON.stringify(list), () => list.length === 0 ? [element("li", "none known")] : list.map(({ id, address }) => {
    const line = element("li");
    const text = element("span");
    text.append(address === status.node.address ? element("span", id) : link(id, address), element("small", address));
    line.append(text);
    return line;
  }));
}

function showDemoNodes() {
  say("members-title", "Nodes");
  rows(JSON.stringify(demoNodes), () => demoNodes.map((node) => {
    const line = element("li");
    const text = element("span");
    const here = node.address === location.host || node.address === status?.node.address;
    text.append(here || !node.running ? element("span", node.id) : link(node.id, node.address), here ? " (this page)" : "",
      element("small", node.address));
    const role = node.running ? node.role : "down";
    const chip = element("span", { down: "killed", none: "no role" }[role] ?? role, `chip ${role}`);
    const act = node.running ? "kill" : "start";
    const button = element("button", act === "kill" ? "Kill" : "Start", act);
    button.type = "button";
    button.dataset.act = String(node.number);
    button.setAttribute("aria-label", `${button.textContent} ${node.id}`);
    button.addEventListener("click", () => operate(node, act, button));
    line.append(text, chip, button);
    return line;
  }));
}

async function operate(node, act, button) {
  button.disabled = true;
  for (const base of demoBases()) {
    try {
      const { response, body } = await ask(`${base}/demo/nodes/${node.number}/${act}`, ANSWER_LIMIT_MS, { method: "POST" });
      say("outcome", response.ok ? `${node.id}: ${act === "kill" ? "killed, as by a crash" : "started"}` : `${node.id}: ${body?.error?.message ?? response.status}`);
      await pollDemo();
      show();
      button.disabled = false;
      return;
    } catch { /* the next one may answer */ }
  }
  say("outcome", `${node.id}: no node answers`);
  button.disabled = false;
}

// ---- searching

let current = null;

function wanted() {
  const words = new URLSearchParams(location.search);
  return { query: words.get("q") ?? "", offset: Math.max(0, Number.parseInt(words.get("offset") ?? "0", 10) || 0) };
}

function go(query, offset) {
  const words = new URLSearchParams({ q: query });
  if (offset) words.set("offset", String(offset));
  history.pushState(null, "", `?${words}`);
  search();
}

async function search() {
  const { query, offset } = wanted();
  at("q").value = query;
  current?.abort();
  const mine = new AbortController();
  current = mine;
  if (!query.trim()) return clear("");
  const giveUpAt = Date.now() + RETRY_SEARCH_FOR_MS;
  at("results").setAttribute("aria-busy", "true");
  say("summary", "Searching …");
  for (;;) {
    const outcome = await once(query, offset, mine.signal);
    if (mine.signal.aborted) return;
    if (outcome.found) { found(outcome.found, offset); break; }
    if (!outcome.again || Date.now() > giveUpAt) { clear(outcome.why); break; }
    clear(`${outcome.why} Trying again …`);
    await new Promise((resolve) => setTimeout(resolve, outcome.again));
    if (mine.signal.aborted) return;
  }
  at("results").removeAttribute("aria-busy");
}

async function once(query, offset, signal) {
  const words = new URLSearchParams({ q: query, limit: String(PAGE), offset: String(offset) });
  try {
    const { response, body } = await ask(`${searchBase()}/search?${words}`, SEARCH_LIMIT_MS, { signal });
    if (response.ok && Array.isArray(body?.hits)) return { found: body };
    const message = body?.error?.message ?? `HTTP status ${response.status}`;
    if (response.status < 500) return { why: `This search was refused: ${message}.` };
    const again = 1000 * (Number.parseInt(response.headers.get("Retry-After") ?? "", 10) || 1);
    return { why: `Not available right now: ${message}.`, again };
  } catch {
    const leader = status && status.role !== "leader" && status.leader?.address;
    return { why: leader && failures === 0 ? `The leader at ${leader} does not answer.` : "No answer.", again: 1000 };
  }
}

// The node that served this page redirects the search to the leader. In a demo, the search works even without that node.
function searchBase() {
  if (!isDemo || failures === 0) return "";
  const leader = demoNodes.find((node) => node.running && node.role === "leader");
  return leader ? `${location.protocol}//${leader.address}` : "";
}

function clear(why) {
  say("summary", why);
  at("notes").replaceChildren();
  at("partial").hidden = true;
  at("pages").hidden = true;
  at("results").replaceChildren();
}

function found(answer, offset) {
  const count = answer.total === 1 ? "1 document" : `${answer.total.toLocaleString()} documents`;
  const by = ["the leader alone", "1 worker"][answer.workers] ?? `${answer.workers} workers`;
  say("summary", `${count} in ${answer.took_ms}\u00a0ms, by ${by}, epoch ${answer.epoch}`);
  const missing = answer.missing === 1 ? "1 document" : `${(answer.missing ?? 0).toLocaleString()} documents`;
  at("notes").replaceChildren(...(answer.notes ?? []).map((note) => element("p", note)));
  say("partial", `This answer is partial: ${missing} could not be searched just now. Search again in a few seconds.`);
  at("partial").hidden = !answer.partial;
  at("results").replaceChildren(...answer.hits.map(hit));
  if (answer.hits.length === 0) at("results").append(element("li", offset ? "No more results." : "No documents found."));
  at("results").start = offset + 1;
  at("pages").hidden = answer.total <= PAGE && offset === 0;
  at("previous").disabled = offset === 0;
  at("next").disabled = offset + PAGE >= answer.total;
  say("place", answer.hits.length ? `${offset + 1} to ${offset + answer.hits.length} of ${answer.total.toLocaleString()}` : "");
}

function hit({ document: path, title, score, snippet }) {
  const item = element("li");
  const where = element("div", undefined, "path");
  where.append(element("span", path), element("span", Number(score).toFixed(3), "score"));
  where.lastChild.title = "score";
  item.append(element("h3", title || path), where, marked(snippet));
  return item;
}

// Takes only the text and the marks from the snippet's HTML.
function marked(snippet) {
  const place = element("p");
  for (const part of new DOMParser().parseFromString(snippet ?? "", "text/html").body.childNodes) {
    place.append(part.nodeName === "MARK" ? element("mark", part.textContent) : part.textContent);
  }
  return place;
}

at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  go(at("q").value, 0);
});
at("previous").addEventListener("click", () => turn(-PAGE));
at("next").addEventListener("click", () => turn(PAGE));
window.addEventListener("popstate", search);

function turn(by) {
  const { query, offset } = wanted();
  go(query, Math.max(0, offset + by));
  at("results").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

poll();
search();
