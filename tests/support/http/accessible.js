// What a page lacks for those who cannot see it, or see it badly. Gives a list of complaints.
() => {
  const complaints = [];
  const name = (node) => {
    const classes = typeof node.className === "string" ? node.className.trim() : "";
    const end = classes ? "." + classes.split(/\s+/).join(".") : "";
    return `<${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}${end}>`;
  };
  const complain = (what, node) => complaints.push(node ? `${what}: ${name(node)} ${(node.textContent || "").trim().slice(0, 40)}` : what);
  const shown = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const byIds = (ids) => (ids || "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
  const called = (node) =>
    (node.getAttribute("aria-label") || byIds(node.getAttribute("aria-labelledby")) || node.textContent || node.title ||
      [...node.querySelectorAll("img[alt], svg title")].map((in_) => in_.alt || in_.textContent).join(" ")).trim();

  if (!document.documentElement.lang) complain("the page says no language");
  if (!document.title.trim()) complain("the page has no title");
  for (const mark of ["main", "header", "nav"])
    if (!document.querySelector(mark)) complain(`no landmark ${mark}`);
  if (document.querySelectorAll("main").length > 1) complain("more than one main");
  const navs = [...document.querySelectorAll("nav")];
  if (navs.length > 1) for (const nav of navs) if (!nav.getAttribute("aria-label") && !nav.getAttribute("aria-labelledby")) complain("one of several navs without a name", nav);

  const seen = new Set();
  for (const node of document.querySelectorAll("[id]")) {
    if (seen.has(node.id)) complain(`id twice: ${node.id}`, node);
    seen.add(node.id);
  }
  for (const node of document.querySelectorAll("[aria-labelledby], [aria-describedby], [aria-controls], label[for]"))
    for (const id of [node.getAttribute("aria-labelledby"), node.getAttribute("aria-describedby"), node.getAttribute("for")].filter(Boolean).join(" ").split(/\s+/).filter(Boolean))
      if (!document.getElementById(id)) complain(`refers to no id: ${id}`, node);

  let level = 0;
  const tops = [...document.querySelectorAll("h1")].filter(shown).length;
  if (tops !== 1) complain(`${tops} first headings`);
  for (const node of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!shown(node)) continue;
    const own = Number(node.tagName[1]);
    if (own > level + 1) complain(`heading ${own} after ${level}`, node);
    if (!node.textContent.trim()) complain("empty heading", node);
    level = own;
  }
  for (const node of document.querySelectorAll("a[href], button, summary, [role=button], [role=tab]"))
    if (shown(node) && !called(node)) complain("no name", node);
  for (const node of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (!shown(node)) continue;
    const labelled = node.getAttribute("aria-label") || byIds(node.getAttribute("aria-labelledby")) || [...(node.labels || [])].some((label) => label.textContent.trim()) || node.title;
    if (!labelled && !["submit", "reset", "button"].includes(node.type)) complain("no label", node);
  }
  for (const node of document.querySelectorAll("img, svg")) {
    const told = node.hasAttribute("alt") || node.getAttribute("aria-hidden") === "true" || node.getAttribute("role") === "presentation" || node.getAttribute("aria-label") || byIds(node.getAttribute("aria-labelledby")) || node.querySelector("title");
    if (!told) complain("no text in place of a picture", node);
  }
  for (const node of document.querySelectorAll("ul, ol"))
    if (!node.getAttribute("role") && [...node.children].some((in_) => !["LI", "SCRIPT", "TEMPLATE"].includes(in_.tagName))) complain("in a list, no item", node);
  for (const node of document.querySelectorAll("table"))
    if (!node.querySelector("th")) complain("a table without headers", node);
  for (const node of document.querySelectorAll("[tabindex]"))
    if (Number(node.getAttribute("tabindex")) > 0) complain("tabindex above 0", node);
  for (const node of document.querySelectorAll("[aria-hidden=true]"))
    if (node.querySelector("a[href], button, input, select, textarea")) complain("hidden, yet reached by keys", node);

  // Contrast, of every text against what is painted behind it.
  const parse = (colour) => {
    const parts = colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    const scale = colour.startsWith("color(srgb") ? 255 : 1;
    return { r: parts[0] * scale, g: parts[1] * scale, b: parts[2] * scale, a: parts.length > 3 ? parts[3] : 1 };
  };
  const over = (top, under) => ({ r: top.r * top.a + under.r * (1 - top.a), g: top.g * top.a + under.g * (1 - top.a), b: top.b * top.a + under.b * (1 - top.a), a: 1 });
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const own = parse(getComputedStyle(at).backgroundColor);
      if (own.a > 0) layers.push(own);
      if (own.a === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), { r: 255, g: 255, b: 255, a: 1 });
  };
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((part) => ((part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const looked = new Set();
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || looked.has(node) || !shown(node) || node.closest("svg, [disabled], option")) continue;
    looked.add(node);
    const style = getComputedStyle(node);
    const ground = behind(node);
    const ink = over(parse(style.color), ground);
    const [high, low] = [light(ink), light(ground)].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < needed - 0.01) complain(`contrast ${ratio.toFixed(2)} < ${needed}`, node);
  }
  // A link within a text is known as one by more than its colour.
  const ends = ["block", "list-item", "table", "table-cell", "flex", "grid", "inline-block", "inline-flex"];
  for (const node of document.querySelectorAll("main a[href]")) {
    const style = getComputedStyle(node);
    if (!shown(node) || style.display !== "inline" || node.closest("svg")) continue;
    let block = node.parentElement;
    while (!ends.includes(getComputedStyle(block).display)) block = block.parentElement;
    const around = (in_) => [...in_.childNodes].map((part) =>
      part.nodeType === Node.TEXT_NODE ? part.data
        : part.nodeType !== Node.ELEMENT_NODE || part.matches("a, button, input, select, textarea") || ends.includes(getComputedStyle(part).display) ? "" : around(part)).join("");
    if (around(block).trim().length <= node.textContent.trim().length) continue;
    const by = getComputedStyle(node.parentElement);
    if (style.textDecorationLine !== "none" || style.fontWeight !== by.fontWeight) continue;
    const [high, low] = [style, by].map((one) => light(over(parse(one.color), behind(node)))).sort((a, b) => b - a);
    if (style.color !== by.color && (high + 0.05) / (low + 0.05) < 3) complain("a link told from its text by colour alone", node);
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 1) {
    const culprit = [...document.querySelectorAll("main *")].filter(shown).find((node) => node.getBoundingClientRect().right > innerWidth + 1);
    complain(`wider than the window by ${wide}`, culprit);
  }
  return complaints;
}
