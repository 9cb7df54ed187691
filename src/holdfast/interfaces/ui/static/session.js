// A link to a message leads to it: into the window that holds it, and into the fold.
function arrive() {
  const found = /^#msg-(\d{1,9})$/.exec(location.hash);
  if (!found) return;
  const target = document.getElementById(location.hash.slice(1));
  if (target) {
    if (target.tagName === "DETAILS") target.open = true;
    target.scrollIntoView();
  } else if (new URLSearchParams(location.search).get("at") !== found[1]) {
    location.replace(`${location.pathname}?at=${found[1]}${location.hash}`);
  }
}

addEventListener("hashchange", arrive);
arrive();

// "Next decision" begins at the message that is being read.
const stick = document.querySelector(".stick");
const goals = new Map([...document.querySelectorAll("a[data-next]")].map((a) => [a.dataset.next, a]));

const place = (message) => Number(message.id.slice(4));

// The place after which to look: that of the message that was gone to, while it is in sight, else
// the one before the first that is in sight.
function placeRead() {
  const top = stick?.getBoundingClientRect().bottom ?? 0;
  const isSeen = (one) => one.getBoundingClientRect().bottom > top && one.getBoundingClientRect().top < innerHeight;
  const all = [...document.querySelectorAll(".turn[id], .call[id]")];
  const gone = all.find((one) => `#${one.id}` === location.hash && isSeen(one));
  if (gone) return place(gone);
  const first = all.find(isSeen);
  return first ? Math.max(0, place(first) - 1) : 0;
}

for (const link of goals.values())
  link.addEventListener("click", () => {
    const url = new URL(link.href);
    url.searchParams.set("after", placeRead());
    link.href = url.href;
  });

const keys = { d: "decision", x: "error", e: "edit" };
document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.defaultPrevented) return;
  if (event.key === "f") {
    event.preventDefault();
    stick?.querySelector("input[name=find]")?.focus();
  } else if (keys[event.key]) {
    goals.get(keys[event.key])?.click();
  }
});

// Messages stop below the heading, however many lines it takes.
function measure() {
  if (stick) document.documentElement.style.setProperty("--stuck", `${stick.offsetHeight}px`);
}

addEventListener("resize", measure);
measure();
// A search of the session leads to what it found.
if (location.hash) arrive();
else document.querySelector(".talk mark")?.closest(".turn, .call")?.scrollIntoView();
