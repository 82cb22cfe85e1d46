"use strict";
/* What all parts of the page use. Text from files goes into the page by textContent only. */
const glcn = {};

(() => {
  const kinds = { u1: Uint8Array, u2: Uint16Array, i2: Int16Array, i4: Int32Array, f4: Float32Array };
  const unpack = ({ kind, bytes }) => {
    const text = atob(bytes);
    const raw = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) raw[i] = text.charCodeAt(i);
    return new kinds[kind](raw.buffer); // every browser that is left runs on little-endian machines
  };
  const isPacked = (value) => value !== null && typeof value === "object" && "bytes" in value && "kind" in value;
  const unpackIn = (part) => {
    for (const key of Object.keys(part)) if (isPacked(part[key])) part[key] = unpack(part[key]);
  };

  const data = JSON.parse(document.getElementById("data").textContent);
  for (const part of [data.map, data.row, data.probabilities, data.evidence, data.columns]) if (part) unpackIn(part);

  glcn.data = data;
  glcn.roles = ["not used", "labelled, fitted", "labelled, held out for validation", "test"];
  glcn.FULL = 65535;
  glcn.SIGNED = 32767;
  glcn.byId = (id) => document.getElementById(id);
  glcn.nameOf = (row) => (data.ids === null ? String(row) : data.ids[row]);
  glcn.className = (code) => (code < 0 ? "unknown" : data.classes[code]);
  glcn.confidence = (row) => data.row.confidence[row] / glcn.FULL;
  glcn.isWrong = (row) => data.row.truth[row] >= 0 && data.row.truth[row] !== data.row.predicted[row];
  glcn.percent = (share, digits = 1) => (share === null ? "–" : `${(100 * share).toFixed(digits)}%`);
  glcn.NARROW = window.matchMedia("(max-width: 860px)"); // as in page.css: the chosen row stands below the map
  glcn.COARSE = window.matchMedia("(pointer: coarse)"); // fingers
  glcn.points = (share) => {
    const size = Math.abs(100 * share).toFixed(1);
    return size === "0.0" ? size : `${share < 0 ? "−" : "+"}${size}`;
  };

  /* Make an element: make("td", {className: "number"}, "text", another element). */
  glcn.make = (tag, properties = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith("aria-") || name === "role" || name === "list" || name === "scope") element.setAttribute(name, value);
      else element[name] = value;
    }
    element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
    return element;
  };
  /* A name may break after the marks that join words, and inside a word only where that is very long. */
  const MOST_TOGETHER = 18;
  glcn.breakable = (name) => String(name).split(/(?<=[_\-/.])/).flatMap((part) => {
    const letters = [...part];
    const pieces = [];
    for (let start = 0; start < letters.length; start += MOST_TOGETHER) pieces.push(letters.slice(start, start + MOST_TOGETHER).join(""), glcn.make("wbr"));
    return pieces;
  });
  glcn.breaking = (name) => glcn.make("span", {}, ...glcn.breakable(name));
  glcn.say = (id, text) => { glcn.byId(id).textContent = text; };

  /* A table with a heading; cells that are numbers or percentages stand to the right. */
  glcn.fillTable = (table, headings, lines) => {
    const isNumber = (cell) => typeof cell === "number" || (typeof cell === "string" && /^[+−]?[\d.]+%?$/.test(cell));
    const numeric = headings.map((_, place) => lines.length > 0 && lines.every((line) => isNumber(line[place]) || line[place] === "–"));
    const cell = (tag, content, place) => {
      const made = glcn.make(tag, numeric[place] ? { className: "number" } : {}, content);
      if (tag === "td") made.dataset.heading = headings[place]; // which narrow screens show beside the cell
      return made;
    };
    const head = glcn.make("tr", {}, ...headings.map((text, place) => cell("th", text, place)));
    head.querySelectorAll("th").forEach((each) => each.setAttribute("scope", "col"));
    const body = lines.map((line) => glcn.make("tr", {}, ...line.map((content, place) => cell("td", content, place))));
    table.replaceChildren(glcn.make("thead", {}, head), glcn.make("tbody", {}, ...body));
  };

  /* What is wider than its place says so and can be scrolled by keys, too. */
  glcn.scrolls = (box) => {
    const hint = glcn.make("p", { className: "fine hint", hidden: true }, "Scroll sideways to see all of the table →");
    box.after(hint);
    const measured = new ResizeObserver(() => {
      const overflows = box.scrollWidth > box.clientWidth + 1;
      box.classList.toggle("wide", overflows);
      hint.hidden = !overflows;
      if (overflows) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    });
    measured.observe(box);
    measured.observe(box.firstElementChild);
  };
  document.querySelectorAll(".scroll").forEach(glcn.scrolls);

  /* A small picture of a row out of the one sheet, or null. */
  let sheet = null;
  glcn.sheetReady = data.pictures === null ? Promise.resolve() : new Promise((ready) => {
    sheet = new Image();
    sheet.onload = () => ready();
    sheet.onerror = () => { sheet = null; ready(); };
    sheet.src = data.pictures.sheet;
  });
  glcn.thumbnail = (row, size) => {
    if (sheet === null || !sheet.naturalWidth) return null;
    const { columns } = data.pictures;
    const lines = Math.ceil(data.rows / columns);
    const height = (size * (sheet.naturalHeight / lines)) / (sheet.naturalWidth / columns);
    const picture = glcn.make("canvas", { className: "thumb", role: "img", "aria-label": `picture of row ${glcn.nameOf(row)}` });
    const [w, h] = [sheet.naturalWidth / columns, sheet.naturalHeight / lines];
    picture.width = w;
    picture.height = h;
    picture.style.width = `${size}px`;
    picture.style.height = `${height}px`;
    picture.getContext("2d").drawImage(sheet, (row % columns) * w, Math.floor(row / columns) * h, w, h, 0, 0, w, h);
    return picture;
  };
  glcn.rowButton = (row) => glcn.make("button", { type: "button", className: "row", onclick: () => glcn.choose(row, { focus: true }) }, ...glcn.breakable(glcn.nameOf(row)));

  /* Light or dark, as the system says until the button is pressed. */
  const root = document.documentElement;
  const wanted = window.matchMedia("(prefers-color-scheme: dark)");
  glcn.setTheme = (name) => {
    root.dataset.theme = name;
    glcn.say("theme", name === "dark" ? "Light" : "Dark");
    document.dispatchEvent(new Event("theme"));
  };
  glcn.colourOf = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  glcn.setTheme(wanted.matches ? "dark" : "light");
  wanted.addEventListener("change", () => glcn.setTheme(wanted.matches ? "dark" : "light"));
  glcn.byId("theme").onclick = () => glcn.setTheme(root.dataset.theme === "dark" ? "light" : "dark");
})();
