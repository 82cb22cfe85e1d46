"use strict";
/* Lists and search: the ways to a row without a mouse. */
(() => {
  const { data, make, byId, nameOf, className, percent } = glcn;
  const MOST_HITS = 12;
  const plain = (text) => text.trim().replace(/\s+/g, " ");

  glcn.fillList = () => {
    if (!byId("list-part").open) return;
    const rows = [];
    for (let row = 0; row < data.rows; row++) if (glcn.visible[row]) rows.push(row);
    rows.sort((a, b) => data.row.confidence[a] - data.row.confidence[b]);
    const line = (row) => make("li", {}, glcn.rowButton(row), ` ${className(data.row.predicted[row])}, ${percent(glcn.confidence(row))}`);
    byId("list").replaceChildren(...rows.slice(0, 50).map(line));
  };

  /* A row by its whole name, else by its number; and some whose names hold what was typed. */
  const hitsOf = (wanted) => {
    const holding = [];
    for (let row = 0; row < data.rows; row++) {
      const name = plain(nameOf(row));
      if (name === wanted) return { row, holding: [] };
      if (holding.length < MOST_HITS && name.toLowerCase().includes(wanted.toLowerCase())) holding.push(row);
    }
    const byNumber = /^\d+$/.test(wanted) && Number(wanted) < data.rows ? Number(wanted) : null;
    return { row: byNumber, holding: holding.filter((row) => row !== byNumber) };
  };

  const search = () => {
    const wanted = plain(byId("wanted").value);
    const found = byId("found");
    found.replaceChildren();
    if (wanted === "") return;
    const { row, holding } = hitsOf(wanted);
    const others = holding.flatMap((each) => [glcn.rowButton(each), " "]);
    if (row === null && others.length === 0) found.append(make("p", { role: "status" }, `There is no row ${wanted}.`));
    else if (row === null) found.append(make("p", { role: "status" }, "Did you mean ", ...others));
    else if (plain(nameOf(row)) !== wanted) {
      found.append(make("p", { role: "status" }, `Number ${row}, counted from 0, is ${nameOf(row)}. `, ...(others.length ? ["Or did you mean ", ...others] : [])));
    }
    if (row !== null) glcn.choose(row, { focus: true });
  };

  glcn.startFind = () => {
    byId("search").onsubmit = (event) => { event.preventDefault(); search(); };
    byId("list-part").ontoggle = glcn.fillList;
  };
})();
