// Ctrl K or Cmd K: a field that leads to any place, bank, session or question by a few letters.
const box = document.createElement("dialog");
box.className = "palette";
box.setAttribute("aria-label", "Go to");
const field = document.createElement("input");
field.type = "text";
field.autocomplete = "off";
field.placeholder = "Go to a page, a bank or a session, or ask";
field.setAttribute("aria-label", "Go to");
field.setAttribute("role", "combobox");
field.setAttribute("aria-expanded", "true");
field.setAttribute("aria-controls", "palette-list");
field.setAttribute("aria-autocomplete", "list");
const list = document.createElement("ul");
list.id = "palette-list";
list.setAttribute("role", "listbox");
list.setAttribute("aria-label", "Where to");
box.append(field, list);
document.body.append(box);

const most = 12;
let known = [];
let shown = [];
let at = 0;
let isLoaded = false;

// Text of memory may hold signs that cannot be seen or that reverse it.
const seen = (text) => String(text ?? "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "");
const entry = (kind, name, href) => ({ kind, name: seen(name), href });

function fromPage() {
  const places = [...document.querySelectorAll("header nav a[data-key]")].map((a) =>
    entry("page", a.firstChild.textContent.trim(), a.getAttribute("href")),
  );
  return places;
}

// Banks and sessions are called and addressed as on their pages, so they are read from those.
async function load(path, kind) {
  const answer = await fetch(path, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer?.ok) return [];
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return [...page.querySelectorAll("main [data-list] > li")].flatMap((row) => {
    const link = row.querySelector("a[data-stop]");
    const label = row.querySelector("a[data-stop] + .quiet bdi")?.textContent;
    const name = link?.textContent.replace(/\s+/g, " ").trim();
    return link ? [entry(kind, label ? `${name} (${label})` : name, link.getAttribute("href"))] : [];
  });
}

async function fill() {
  if (isLoaded) return;
  isLoaded = true;
  known = (await Promise.all([load("/banks", "bank"), load("/sessions", "session")])).flat();
  draw();
}

// Every word must occur; what begins with them comes first.
function fits(one, words) {
  const text = one.name.toLowerCase();
  return words.every((word) => text.includes(word)) ? (text.startsWith(words[0] ?? "") ? 0 : 1) : -1;
}

function draw() {
  const typed = field.value.trim();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...fromPage(), ...known];
  const found = all.map((one) => [fits(one, words), one]).filter(([rank]) => rank >= 0);
  found.sort((a, b) => a[0] - b[0]);
  shown = found.slice(0, most).map(([, one]) => one);
  if (typed) {
    shown.push(entry("search", `Search memory for “${typed}”`, `/search?q=${encodeURIComponent(typed)}`));
    shown.push(entry("ask", `Ask “${typed}”`, `/?q=${encodeURIComponent(typed)}`));
  }
  at = Math.min(at, Math.max(0, shown.length - 1));
  list.replaceChildren(
    ...shown.map((one, number) => {
      const item = document.createElement("li");
      item.id = `palette-${number}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", String(number === at));
      const kind = document.createElement("span");
      kind.className = "quiet";
      kind.textContent = one.kind;
      const name = document.createElement("span");
      name.textContent = one.name;
      item.append(name, kind);
      item.addEventListener("click", () => (location.href = one.href));
      return item;
    }),
  );
  if (shown.length) field.setAttribute("aria-activedescendant", `palette-${at}`);
  else field.removeAttribute("aria-activedescendant");
  document.getElementById(`palette-${at}`)?.scrollIntoView({ block: "nearest" });
}

field.addEventListener("input", () => {
  at = 0;
  draw();
});

field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    at = (at + (event.key === "ArrowDown" ? 1 : -1) + shown.length) % Math.max(1, shown.length);
    draw();
  } else if (event.key === "Enter" && shown[at]) {
    event.preventDefault();
    location.href = shown[at].href;
  }
});

box.addEventListener("click", (event) => {
  if (event.target === box) box.close();
});

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  if (box.open) return box.close();
  field.value = "";
  at = 0;
  draw();
  box.showModal();
  fill();
});
