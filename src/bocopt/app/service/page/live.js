"use strict";
// The page as events come: what it says is asked for again, and only what has changed is put in.
const PAUSE = 2000; // milliseconds between two looks at the page
const main = document.querySelector("main");
const { stream, every } = main.dataset;
let heard = Number(main.dataset.seq ?? -1);
let sources = []; // of the parts of the page, as the server wrote them
let looked = 0;
let timer = 0;
let feed = null;

const put = (next) => {
  const fresh = [...next.children];
  const same = fresh.length === main.children.length;
  const written = fresh.map((part) => part.outerHTML);
  let left = false;
  fresh.forEach((part, i) => {
    const old = main.children[i];
    if (same && sources[i] === written[i]) return;
    if (same && (old.contains(document.activeElement) || old.querySelector(".canvas:hover"))) {
      written[i] = sources[i]; // somebody looks at it just now: later
      left = true;
      return;
    }
    if (!same) return;
    const open = [...old.querySelectorAll("details")].map((details) => details.open);
    part.querySelectorAll("details").forEach((details, j) => (details.open = open[j] ?? false));
    if (old.matches("details")) part.open = old.open;
    old.replaceWith(part);
    part.querySelectorAll("figure.plotted").forEach(liven);
  });
  if (!same) {
    main.replaceChildren(...fresh);
    main.querySelectorAll("figure.plotted").forEach(liven);
  }
  main.dataset.seq = next.dataset.seq ?? "";
  sources = written;
  return left;
};

const look = async () => {
  timer = 0;
  looked = Date.now();
  let again = false;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.redirected || answer.status === 401) return location.reload();
    const text = await answer.text();
    const next = new DOMParser().parseFromString(text, "text/html").querySelector("main");
    if (answer.ok && next) again = put(next) || Number(next.dataset.seq ?? heard) < heard;
  } catch {
    again = true;
  }
  looked = Date.now();
  if (again) soon();
};
const soon = () => {
  if (!timer && !document.hidden) timer = setTimeout(look, Math.max(200, looked + PAUSE - Date.now()));
};

const say = (words) => {
  const place = document.querySelector(".status span");
  if (place) place.textContent = words;
};
const told = (event) => {
  heard = Math.max(heard, Number(event.lastEventId));
  const { seq, kind, decision, lesson, at } = JSON.parse(event.data);
  const when = new Date(1000 * at).toISOString().slice(0, 19).replace("T", " ");
  say(`Event ${seq.toLocaleString("en")}: ${kind} ${(decision ?? lesson).toLocaleString("en")}, ${when}`);
  soon();
};
const mark = (live) => document.querySelector(".status")?.classList.toggle("live", live);
const listen = () => {
  if (!stream || feed || document.hidden) return;
  feed = new EventSource(`/v1/streams/${stream}/events?after=${heard}`);
  for (const kind of ["decision", "outcome", "correction", "forgotten", "lesson"]) feed.addEventListener(kind, told);
  feed.onopen = () => mark(true);
  feed.onerror = () => mark(false);
};
// A browser holds few connections to one place: pages that nobody sees give theirs back.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    feed?.close();
    feed = null;
    mark(false);
  } else {
    listen();
    if (stream || every) soon();
  }
});
listen();
if (every) setInterval(soon, 1000 * Number(every));
