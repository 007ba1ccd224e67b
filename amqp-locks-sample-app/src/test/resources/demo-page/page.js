"use strict";

// Shows the scenes that the demo sends. Nothing here is computed but how to draw them: each number
// was measured by the demo.

const WINDOW = 10_000; // what a lane shows, in milliseconds
const BEHIND = 250; // so much later it is shown, when it is known what happened until then
const SILENCE = 3_000; // the demo sends five scenes a second
const COLOURS = 6;
const SVG = "http://www.w3.org/2000/svg";
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const at = (id) => document.getElementById(id);
let scene = null;
let arrived = 0;
let drawn = 0;
let told = null; // the number of the last event that was announced
let ended = false;

function element(parent, name, attributes = {}) {
  const child = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) child.setAttribute(key, value);
  parent.append(child);
  return child;
}

function shape(parent, name, attributes) {
  const child = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) child.setAttribute(key, value);
  parent.append(child);
  return child;
}

// Only if it is another one, or a screen reader and a selection lose their place.
function write(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

const colour = (worker) => `var(--w${(worker - 1) % COLOURS})`;
const seconds = (millis) => `${(millis / 1000).toFixed(1)} s`;
const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

// Rows that stay the same elements for as long as there is the thing that they show.
function rows(body, items, key, create) {
  const kept = new Map([...body.children].map((row) => [row.dataset.key, row]));
  items.forEach((item, index) => {
    const name = String(key(item));
    const row = kept.get(name) ?? create(item);
    kept.delete(name);
    row.dataset.key = name;
    if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
  });
  for (const row of kept.values()) {
    // Whoever pressed a button there would be nowhere.
    const title = row.contains(document.activeElement) && row.closest("section").querySelector("h2");
    row.remove();
    if (title) title.focus();
  }
}

function row(cells, title) {
  const line = document.createElement("tr");
  line.setAttribute("role", "row");
  element(line, "th", { scope: "row", role: "rowheader" }).textContent = title;
  for (let cell = 0; cell < cells; cell++) element(line, "td", { role: "cell" });
  return line;
}

function holder(cell, worker) {
  if (!cell.firstChild) {
    element(cell, "span", { class: "chip", "aria-hidden": "true" });
    element(cell, "span");
  }
  cell.firstChild.style.background = worker === undefined ? "" : colour(worker);
  write(cell.lastChild, worker === undefined ? "nobody" : `worker ${worker}`);
  cell.className = worker === undefined ? "free" : "";
}

function showLanes() {
  rows(at("lanes"), scene.lanes, (lane) => lane.slot, (lane) => {
    const line = row(4, `Slot ${lane.slot}`);
    const strip = line.lastChild;
    strip.className = "strip";
    strip.setAttribute("aria-hidden", "true");
    shape(shape(strip, "svg", {}), "g", {});
    return line;
  });
  const words = { HELD: "held", UNCERTAIN: "uncertain", UNKNOWN: "not known" };
  scene.lanes.forEach((lane, index) => {
    const [, who, long, sure] = at("lanes").children[index].children;
    holder(who, lane.worker);
    write(long, lane.worker === undefined ? "" : seconds(lane.held));
    const confirmed = lane.confirmed === undefined ? "" : `, confirmed ${seconds(lane.confirmed)} ago`;
    write(sure, lane.worker === undefined ? "free" : words[lane.sure] + confirmed);
    sure.className = lane.sure ?? "free";
  });
  const unseen = scene.slots - scene.lanes.length;
  at("unseen").hidden = unseen <= 0;
  write(at("unseen"), `and ${count(unseen, "new slot")}, not used yet`);
}

function showWorkers() {
  rows(at("workers"), scene.workers, (worker) => worker.number, (worker) => {
    const line = row(4, "");
    const title = line.firstChild;
    element(title, "span", { class: "chip", "aria-hidden": "true" }).style.background =
      colour(worker.number);
    element(title, "span").textContent = `Worker ${worker.number}`;
    for (const [what, path, label] of [
      ["Cut connections", "cut", `Cut connections of worker ${worker.number} to the broker`],
      ["Kill", "kill", `Kill worker ${worker.number}`],
    ]) {
      const button = element(line.lastChild, "button", { type: "button", class: path });
      button.textContent = what;
      button.setAttribute("aria-label", label);
      button.addEventListener("click", () => press(`workers/${worker.number}/${path}`, label));
    }
    return line;
  });
  const session = {
    OPEN: "connected",
    ENDED: "its session ended",
    NOT_OPENED: "not needed yet",
    CLOSED: "closed",
  };
  scene.workers.forEach((worker, index) => {
    const [, holds, waits, broker, buttons] = at("workers").children[index].children;
    write(holds, worker.holding);
    write(waits, worker.waiting ?? "–");
    const late = worker.age > SILENCE ? `, ${seconds(worker.age)} ago` : "";
    write(broker, worker.starting ? "starting\u00a0…" : (session[worker.session] ?? "…") + late);
    buttons.firstChild.disabled = ended || worker.starting || !worker.cuttable;
    buttons.lastChild.disabled = ended || worker.starting;
  });
}

function showNumbers() {
  const { uploads, slots } = scene;
  write(at("about"), `Worker processes upload images, each one in a slot of a semaphore: ${scene.kind} (${scene.broker}).`);
  write(at("in-flight"), uploads.inFlight);
  write(at("of-slots"), `in ${count(slots, "slot")}`);
  write(at("most"), uploads.most);
  const above = uploads.most > scene.mostSlots;
  at("most-tile").classList.toggle("bad", above);
  write(at("most-note"), above ? "more than there were slots" : "receiver's count");
  write(at("waiting"), scene.workers.reduce((sum, worker) => sum + (worker.waiting ?? 0), 0));
  write(at("received"), uploads.received);
  write(at("failed"), `${uploads.failed} broke off`);
  write(at("lost"), scene.lost);
  at("lost-tile").classList.toggle("bad", scene.lost > 0);
  write(at("count"), count(slots, "slot"));
  at("fewer").disabled = ended || slots <= 1;
  at("more").disabled = ended || slots >= scene.limit;
  const broker = scene.atBroker;
  write(
    at("at-broker"),
    broker ? `The broker, ${seconds(broker.age)} ago: ${broker.inUse} of ${broker.slots} in use` : "",
  );
}

function showChart(name, values, text, step) {
  const chart = at(`${name}-chart`);
  const known = values.filter((value) => value !== undefined);
  const top = Math.max(step, Math.ceil(Math.max(0, ...known) / step) * step);
  chart.replaceChildren();
  values.forEach((value, index) => {
    if (value) {
      const height = (40 * value) / top;
      const x = 60 - values.length + index + 0.1;
      shape(chart, "rect", { x, y: 40 - height, width: 0.8, height });
    }
  });
  write(at(`${name}-top`), `full height: ${text(top)}`);
  const last = values.at(-1);
  write(
    at(name),
    known.length === 0
      ? "nothing yet"
      : `${last === undefined ? "nobody got one" : text(last)} (at most ${text(Math.max(...known))})`,
  );
}

function showEvents() {
  const { events } = scene;
  if (events.length > 0) {
    if (!at("events").querySelector("time")) at("events").replaceChildren();
    const latest = [...events].reverse().slice(0, 12);
    rows(at("events"), latest, (event) => event.number, (event) => {
      const line = document.createElement("li");
      line.className = event.kind;
      element(line, "time").textContent = new Date(event.at).toTimeString().slice(0, 8);
      element(line, "span").textContent = event.text;
      return line;
    });
  }
  // What was there when the page was opened is no news.
  const news = events.filter((event) => told !== null && event.number > told);
  told = events.at(-1)?.number ?? 0;
  const losses = news.filter((event) => event.kind === "LOST").map((event) => event.text);
  if (losses.length > 0) write(at("losses"), losses.join(". "));
}

// Each lane is drawn once for a scene, and then moved.
function drawLanes() {
  const scale = laneWidth() / WINDOW;
  const bySlot = new Map(scene.lanes.map((lane) => [lane.slot, []]));
  for (const hold of scene.holds) bySlot.get(hold.slot)?.push(hold);
  for (const line of at("lanes").children) {
    const group = line.querySelector("g");
    const middle = line.querySelector("svg").clientHeight / 2;
    group.replaceChildren();
    for (const hold of bySlot.get(Number(line.dataset.key)) ?? []) {
      const x = (hold.from - scene.now) * scale;
      const width = Math.max(1, ((hold.to ?? scene.now) - hold.from) * scale - 1);
      const bar = shape(group, "rect", {
        class: "bar",
        x,
        y: 2,
        width,
        height: 2 * middle - 4,
        rx: 3,
      });
      bar.style.fill = colour(hold.worker);
      if (width > 14) {
        shape(group, "text", { x: x + width / 2, y: middle }).textContent = hold.worker;
      }
      if (hold.end === "LOST" || hold.end === "KILLED") {
        shape(group, "rect", { class: "cap", x: x + width - 2, y: 0, width: 4, height: 2 * middle });
      }
    }
  }
}

const laneWidth = () => at("lanes").querySelector("svg")?.clientWidth ?? 0;

function moveLanes(elapsed) {
  const width = laneWidth();
  const right = width + ((BEHIND - Math.min(elapsed, BEHIND)) * width) / WINDOW;
  for (const group of at("lanes").querySelectorAll("g")) {
    group.setAttribute("transform", `translate(${right} 0)`);
  }
}

function frame() {
  if (scene && !calm.matches) moveLanes(performance.now() - arrived);
  requestAnimationFrame(frame);
}

function show(next) {
  scene = next;
  arrived = performance.now();
  linked("live", "Live");
  showNumbers();
  showLanes();
  showWorkers();
  showEvents();
  if (calm.matches && arrived - drawn < 1000) return;
  drawn = arrived;
  drawLanes();
  moveLanes(calm.matches ? BEHIND : 0);
  showChart("rate", scene.seconds.map((second) => second.uploads), String, 5);
  showChart("wait", scene.seconds.map((second) => second.waited), (value) => `${value} ms`, 100);
}

function linked(state, text) {
  at("link").dataset.state = state;
  write(at("link"), text);
}

async function press(path, what) {
  try {
    const answer = await fetch(path, { method: "POST" });
    write(at("said"), answer.ok ? `Done: ${what[0].toLowerCase()}${what.slice(1)}` : `Not done: ${await answer.text()}`);
  } catch {
    write(at("said"), "Not done: the demo does not answer");
  }
}

for (const [id, step] of [["fewer", -1], ["more", 1]]) {
  at(id).addEventListener("click", () => {
    const slots = scene.slots + step;
    press(`slots/${slots}`, count(slots, "slot"));
  });
}

const source = new EventSource("scenes");
source.onmessage = (message) => show(JSON.parse(message.data));
source.onerror = () => linked("lost", "No connection to the demo");
source.addEventListener("end", (message) => {
  source.close();
  ended = true;
  linked("ended", `The demo has ended. ${JSON.parse(message.data)}`);
  if (scene) {
    showNumbers();
    showWorkers();
  }
});
setInterval(() => {
  if (!ended && scene && performance.now() - arrived > SILENCE) {
    linked("lost", `No news for ${Math.round((performance.now() - arrived) / 1000)} s`);
  }
}, 1000);
frame();
