// Keys that lead from every page to every place; none while somebody writes.
const places = new Map([...document.querySelectorAll("nav a[data-key]")].map((a) => [a.dataset.key, a.href]));
let going = false;

document.addEventListener("keydown", (event) => {
  const writes = event.target.closest("input, textarea, select, [contenteditable]");
  if (writes || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    document.querySelector("header input[type=search]").focus();
  } else if (event.key === "g") {
    going = true;
    setTimeout(() => (going = false), 1200);
  } else if (going && places.has(event.key)) {
    going = false;
    location.href = places.get(event.key);
  }
});
