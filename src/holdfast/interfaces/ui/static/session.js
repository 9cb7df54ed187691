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

const stick = document.querySelector(".stick");

document.addEventListener("keydown", (event) => {
  if (event.target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.defaultPrevented) return;
  if (event.key === "f") {
    event.preventDefault();
    stick?.querySelector("input[name=find]")?.focus();
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
