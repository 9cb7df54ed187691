// Keys that lead from every page to every place, and through lists; none while somebody writes.
const places = new Map([...document.querySelectorAll("nav a[data-key]")].map((a) => [a.dataset.key, a.href]));
let going = false;

// j and k go through whatever a page marks as a list: its links, or its items.
function step(by) {
  const stops = [...document.querySelectorAll("[data-list] > * [data-stop], [data-list] > [data-stop]")];
  const list = stops.length ? stops : [...document.querySelectorAll("[data-list] > * > a:first-of-type")];
  if (!list.length) return;
  const at = list.findIndex((stop) => stop === document.activeElement || stop.contains(document.activeElement));
  const next = list[Math.max(0, Math.min(list.length - 1, at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

// A link to something that is folded unfolds it.
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const fold = target.tagName === "DETAILS" ? target : target.firstElementChild;
  if (fold && fold.tagName === "DETAILS") fold.open = true;
}

addEventListener("hashchange", unfold);
unfold();

// The keys are listed in a fold at the end of a page; with scripts, in a box above it.
const help = document.createElement("dialog");
help.setAttribute("aria-label", "Keys");
const fold = document.getElementById("keys");
if (fold) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "plain small";
  close.textContent = "Close";
  close.addEventListener("click", () => help.close());
  help.append(...[...fold.children].filter((one) => one.tagName !== "SUMMARY"), close);
  document.body.append(help);
  fold.firstElementChild.addEventListener("click", (event) => {
    event.preventDefault();
    help.showModal();
  });
}

function go(key) {
  going = false;
  location.href = places.get(key);
}

// In an empty field for a question `g` and a letter may begin a word, so it counts only if nothing
// follows for a moment.
let waiting = 0;
document.addEventListener("input", (event) => {
  clearTimeout(waiting);
  const field = event.target;
  if (field.id !== "question" || !/^g[a-z]$/.test(field.value) || !places.has(field.value[1])) return;
  waiting = setTimeout(() => {
    const key = field.value[1];
    field.value = "";
    go(key);
  }, 700);
});

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.target.closest("dialog")) return;
  const writes = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
  if (event.key === "Escape" && writes) writes.blur();
  if (writes || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    const search = document.querySelector("header input[type=search]");
    search.focus();
    search.select();
  } else if (going && places.has(event.key)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    go(event.key);
  } else if (event.key === "g") {
    going = true;
    setTimeout(() => (going = false), 1200);
  } else if (event.key === "j" || event.key === "k") {
    step(event.key === "j" ? 1 : -1);
  } else if (event.key === "?") {
    event.preventDefault();
    if (fold) help.showModal();
  }
});

help.addEventListener("keydown", (event) => {
  if (event.key === "?") {
    event.preventDefault();
    help.close();
  }
});

// On a phone a line of places is moved sideways: begin where we are.
for (const here of document.querySelectorAll("nav [aria-current]")) {
  const nav = here.closest("nav");
  nav.scrollLeft = here.offsetLeft - nav.offsetLeft - 40;
}

// A link to a message or a record can be taken along; without scripts it is a link like any other.
const told = document.createElement("p");
told.className = "sr";
told.setAttribute("aria-live", "polite");
document.querySelector("footer")?.append(told);

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-copy]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const isHere = link.getAttribute("href").startsWith("#");
  if (!isHere) event.preventDefault();
  try {
    await navigator.clipboard.writeText(new URL(link.dataset.copy, location.href).href);
  } catch {
    if (!isHere) location.href = link.href;
    return;
  }
  told.textContent = "Link copied";
  link.classList.add("copied");
  setTimeout(() => {
    link.classList.remove("copied");
    told.textContent = "";
  }, 2000);
});
