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
