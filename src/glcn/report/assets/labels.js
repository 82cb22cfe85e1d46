"use strict";
/* Labels that somebody types, and the file they are saved in. */
(() => {
  const { data, make, byId, percent, say, nameOf } = glcn;
  const typed = new Map(); // row → label
  const KEPT = `glcn labels ${data.summary.fingerprint}`;

  /* What was typed survives a reload, where the browser lets a local page keep anything. */
  const keep = () => { try { localStorage.setItem(KEPT, JSON.stringify([...typed])); } catch { /* it is in the text below, too */ } };
  const recall = () => {
    try {
      for (const [row, label] of JSON.parse(localStorage.getItem(KEPT) ?? "[]")) if (row < data.rows) typed.set(row, String(label));
    } catch { /* nothing was kept */ }
  };

  // A cell that a spreadsheet could run gets an apostrophe, as in all files of glcn; `glcn fit` takes it off again.
  const cell = (text) => {
    const harmless = /^[=+\-@\t\r\n]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\r\n]/.test(harmless) || harmless !== harmless.trim() ? `"${harmless.replaceAll('"', '""')}"` : harmless;
  };
  const csv = () => `row,label\n${[...typed].map(([row, label]) => `${cell(nameOf(row))},${cell(label)}\n`).join("")}`;

  const changed = () => {
    const none = typed.size === 0;
    byId("export").disabled = none;
    byId("forget").disabled = none;
    say("typed", none ? "No label typed yet." : `${typed.size} label${typed.size === 1 ? "" : "s"} typed.`);
    byId("csv").value = csv();
    document.querySelectorAll("input[data-row]").forEach((input) => {
      const label = typed.get(Number(input.dataset.row)) ?? "";
      if (input !== document.activeElement && input.value !== label) input.value = label;
    });
    keep();
  };

  glcn.labelInput = (row, where) => {
    const input = make("input", { type: "text", list: "class-names", value: typed.get(row) ?? "", autocomplete: "off", "aria-label": `label of row ${nameOf(row)}` });
    input.dataset.row = row;
    input.dataset.where = where;
    input.oninput = () => {
      const label = input.value.trim();
      if (label === "") typed.delete(row);
      else typed.set(row, label);
      changed();
    };
    return input;
  };

  glcn.fillNext = () => {
    recall();
    byId("class-names").append(...data.classes.map((name) => make("option", { value: name })));
    glcn.fillTable(byId("next"), ["row", "now", "uncertainty", "reach", "label"], data.label_next.map(([row, , uncertainty, reach]) => {
      const named = make("span", {}, glcn.rowButton(row));
      const picture = glcn.thumbnail(row, 40);
      if (picture) named.prepend(picture, " ");
      return [named, `${glcn.className(data.row.predicted[row])}, ${percent(glcn.confidence(row))}`, uncertainty.toFixed(2), reach.toFixed(2), glcn.labelInput(row, "list")];
    }));
    byId("export").onclick = () => {
      const link = make("a", { href: URL.createObjectURL(new Blob([csv()], { type: "text/csv" })), download: "labels.csv" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    };
    byId("forget").onclick = () => { typed.clear(); changed(); };
    changed();
  };
})();
