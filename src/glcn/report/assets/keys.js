"use strict";
/* The map by keyboard: arrows go to the nearest row on that side, plus and minus zoom. */
(() => {
  const { data, byId } = glcn;
  const { x, y } = data.map;
  const directions = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const zooms = { "+": 1 / 1.5, "=": 1 / 1.5, "-": 1.5, "_": 1.5 };

  const beside = ([dx, dy]) => {
    const from = glcn.chosen;
    if (from === undefined) return glcn.visible.indexOf(1);
    let [best, nearest] = [-1, Infinity];
    for (let row = 0; row < data.rows; row++) {
      if (!glcn.visible[row] || row === from) continue;
      const [a, b] = [x[row] - x[from], y[row] - y[from]];
      const along = a * dx + b * dy;
      const aside = Math.abs(a * dy + b * dx);
      if (along > 0 && aside <= along && along + 2 * aside < nearest) [best, nearest] = [row, along + 2 * aside];
    }
    return best;
  };

  glcn.startKeys = () => byId("map").addEventListener("keydown", (event) => {
    if (event.target !== byId("map") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && glcn.chosen !== undefined) byId("row").focus();
    else if (event.key in zooms) glcn.zoom(zooms[event.key]);
    else if (event.key === "0") glcn.zoomOut();
    else if (event.key in directions) {
      const row = beside(directions[event.key]);
      if (row >= 0) glcn.choose(row);
    } else return;
    event.preventDefault();
  });
})();
