// Keeps a page up to date while it is looked at. The number of reviews in the navigation follows the
// event stream; parts marked data-live are replaced where they stand; what is new in a list marked
// data-live-list is offered by a button above the page, so that nothing moves under a reader's eyes.
const soonest = 3000;
let events = null;
let failures = 0;
let known = "";
let last = 0;
let timer = 0;

function badge(waiting) {
  const link = document.querySelector('header nav a[href="/review"]');
  if (!link) return;
  let count = link.querySelector(".count");
  if (!waiting) {
    count?.remove();
  } else {
    if (!count) {
      count = document.createElement("span");
      count.className = "count";
      link.append(" ", count);
    }
    count.textContent = waiting;
  }
}

// What somebody is in: the keyboard, a selection, or something that was unfolded.
function isRead(part) {
  const selection = getSelection();
  return (
    part.contains(document.activeElement) ||
    (!selection.isCollapsed && selection.anchorNode && part.contains(selection.anchorNode)) ||
    part.querySelector("details[open]") !== null
  );
}

function offer(text, take) {
  let place = document.getElementById("news");
  if (!place) {
    place = document.createElement("div");
    place.id = "news";
    place.setAttribute("role", "status");
    document.body.append(place);
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = text;
  button.addEventListener("click", () => {
    place.remove();
    take();
  });
  place.replaceChildren(button);
}

const items = (list) => new Map([...list.querySelectorAll("[data-id]")].map((item) => [item.dataset.id, item]));

function updateList(list, fresh) {
  const shown = items(list);
  const there = items(fresh);
  const news = [...there.keys()].filter((id) => !shown.has(id));
  for (const [id, item] of there) {
    const old = shown.get(id);
    if (old && !isRead(old) && old.innerHTML !== item.innerHTML) old.innerHTML = item.innerHTML;
  }
  if (!news.length) return;
  offer(`${news.length} new`, () => {
    list.replaceChildren(...fresh.childNodes);
    list.scrollIntoView({ block: "nearest" });
    list.querySelector(`[data-id] a`)?.focus({ preventScroll: true });
  });
}

async function refresh() {
  last = Date.now();
  const answer = await fetch(location.href, { headers: { accept: "text/html", "x-live": "1" } }).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live], [data-live-list]")) {
    const fresh = page.getElementById(part.id);
    if (!fresh) offer("Show what is new", () => location.reload());
    else if ("liveList" in part.dataset) updateList(part, fresh);
    else if (!isRead(part) && part.innerHTML !== fresh.innerHTML) part.innerHTML = fresh.innerHTML;
  }
}

function hear(event) {
  const state = JSON.parse(event.data);
  badge(state.waiting);
  delete state.changed;
  const now = JSON.stringify(state);
  const isNew = event.type === "changed" || (known && known !== now);
  known = now;
  if (!isNew || !document.querySelector("[data-live], [data-live-list]")) return;
  clearTimeout(timer);
  timer = setTimeout(refresh, Math.max(0, last + soonest - Date.now()));
}

function stop() {
  events?.close();
  events = null;
}

// A browser keeps few connections to one server, so only the pages that are seen listen.
function listen() {
  if (document.hidden) return stop();
  if (events) return;
  failures = 0;
  events = new EventSource("/api/v1/live");
  events.addEventListener("hello", hear);
  events.addEventListener("changed", hear);
  events.addEventListener("open", () => (failures = 0));
  events.addEventListener("error", () => {
    failures += 1;
    if (failures > 3) stop();
  });
}

document.addEventListener("visibilitychange", listen);
addEventListener("pagehide", stop);
addEventListener("pageshow", listen);
listen();

// A picture that is wider than the screen begins with what is latest.
for (const picture of document.querySelectorAll(".activity, .activity > .scrolled")) picture.scrollLeft = picture.scrollWidth;
