// Deciding by keys, each of which a button of the page names: a approves, r rejects; u calls useful,
// n unneeded, o outdated; e edits, x selects. What is selected is decided together. After a decision
// the keyboard is where it was, at the next record.
const cards = [...document.querySelectorAll("[data-list] > li")].filter((card) => card.querySelector("[data-decide]"));
const several = document.getElementById("several");
const place = "review-place";
const keys = new Set([...document.querySelectorAll("[data-decide]")].map((one) => one.dataset.decide));
const ticks = () => cards.map((card) => card.querySelector(".pick")).filter(Boolean);

for (const hint of document.querySelectorAll(".by-keys, .several .all")) hint.hidden = false;
document.getElementById("select-all")?.addEventListener("change", (event) => {
  for (const tick of ticks()) tick.checked = event.target.checked;
});

const stop = (card) => card.querySelector("[data-stop]") ?? card.querySelector("[data-decide]");

function attend(at) {
  const card = cards[Math.max(0, Math.min(cards.length - 1, at))];
  stop(card)?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
}

const current = () => cards.findIndex((card) => card.contains(document.activeElement));

function submit(button, at) {
  sessionStorage.setItem(place, String(at));
  button.form.requestSubmit(button);
}

function decide(key) {
  const isSeveral = ticks().some((tick) => tick.checked);
  if (isSeveral && key !== "e") return submit(several.querySelector(`[data-several=${key}]`), Math.max(0, current()));
  const at = current();
  // Nothing is decided that nobody looked at.
  if (at < 0) return attend(0);
  const what = cards[at].querySelector(`[data-decide=${key}]`);
  if (!what) return;
  if (key !== "e") return submit(what, at);
  what.parentElement.open = true;
  what.parentElement.querySelector("textarea, input:not([type=hidden])")?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select, dialog") || !cards.length) {
    // Who leaves a field is still at its record.
    const card = cards.find((one) => one.contains(event.target));
    if (event.key === "Escape" && card) stop(card)?.focus();
    return;
  }
  if (keys.has(event.key)) {
    event.preventDefault();
    decide(event.key);
  } else if (event.key === "x") {
    const tick = cards[current()]?.querySelector(".pick");
    if (tick) tick.checked = !tick.checked;
    else attend(0);
  }
});

const before = sessionStorage.getItem(place);
sessionStorage.removeItem(place);
if (before !== null && cards.length) attend(Number(before));
