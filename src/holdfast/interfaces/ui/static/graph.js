// Arrow keys walk from node to node: to the nearest one that lies in that direction.
const picture = document.querySelector(".picture");
const nodes = [...document.querySelectorAll(".picture a.node")].map((link) => ({ link, x: Number(link.dataset.x), y: Number(link.dataset.y) }));
const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

// One stop for the tab key; the rest of the way goes by arrows.
const stand = (node, move) => {
  for (const other of nodes) other.link.setAttribute("tabindex", other === node ? "0" : "-1");
  if (move) node.link.focus({ preventScroll: false });
};

const next = (from, [right, down]) => {
  let best = null;
  let least = Infinity;
  for (const node of nodes) {
    const x = node.x - from.x;
    const y = node.y - from.y;
    const along = x * right + y * down;
    const aside = Math.abs(x * down) + Math.abs(y * right);
    if (node === from || along <= 0 || aside > along * 2) continue;
    const far = along + aside * 2;
    if (far < least) [best, least] = [node, far];
  }
  return best;
};

if (nodes.length) {
  stand(nodes[0], false);
  picture.removeAttribute("tabindex");
  picture.scrollLeft = nodes[0].link.classList.contains("focus") ? nodes[0].x - picture.clientWidth / 2 : 0;
  picture.addEventListener("keydown", (event) => {
    const at = nodes.find((node) => node.link === document.activeElement);
    if (!at || !(event.key in ways) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const to = next(at, ways[event.key]);
    if (to) stand(to, true);
  });
}
