"use strict";
/* Which rows the map shows. */
(() => {
  const { data, byId, say } = glcn;
  const { predicted, truth, given, role, confidence } = data.row;
  const n = data.rows;
  const judgedRole = data.scores.judged_by === "test" ? 3 : 2;
  let doubtBelow = 0.7;

  glcn.hidden = new Set(); // classes that the legend hides
  glcn.pair = null; // [true class, predicted class] of a cell of the confusion matrix
  glcn.visible = new Uint8Array(n).fill(1);
  glcn.classOf = (row) => (byId("colour").value === "truth" ? truth[row] : predicted[row]);

  const filters = {
    all: () => true,
    wrong: (row) => glcn.isWrong(row),
    doubtful: (row) => confidence[row] < doubtBelow * glcn.FULL,
    unlabelled: (row) => given[row] < 0,
    labelled: (row) => given[row] >= 0,
  };
  const inPair = (row) => truth[row] === glcn.pair[0] && predicted[row] === glcn.pair[1] && role[row] === judgedRole;

  glcn.filterRows = () => {
    const fits = filters[byId("filter").value];
    const { hidden, pair, classOf } = glcn;
    const visible = new Uint8Array(n);
    let count = 0;
    for (let row = 0; row < n; row++) {
      if (!fits(row) || hidden.has(classOf(row)) || (pair !== null && !inPair(row))) continue;
      visible[row] = 1;
      count++;
    }
    glcn.visible = visible;
    const which = pair === null ? "" : `: ${glcn.className(pair[0])} predicted as ${glcn.className(pair[1])}`;
    const without = hidden.size === 0 ? "" : `; ${hidden.size} class${hidden.size === 1 ? " is" : "es are"} hidden`;
    say("count", `${count} of ${n} rows shown${which}${without}`);
  };

  glcn.showAll = () => {
    glcn.pair = null;
    glcn.hidden.clear();
    byId("filter").value = "all";
  };

  /* The bound of doubt acts while it is typed; a field that is being emptied keeps the last one. */
  let waiting = 0;
  glcn.startFilters = () => {
    if (!truth.some((code) => code >= 0)) byId("colour").querySelector("[value=truth]").disabled = true;
    if (!truth.some((code, row) => code >= 0 && given[row] < 0) && data.scores.judged_by === null) byId("filter").querySelector("[value=wrong]").disabled = true;
    byId("colour").onchange = () => glcn.drawMap();
    byId("filter").onchange = () => { glcn.pair = null; glcn.drawMap(); };
    byId("doubt").oninput = () => {
      const typed = byId("doubt").value.trim();
      if (typed === "" || Number.isNaN(Number(typed))) return;
      doubtBelow = Math.min(Math.max(Number(typed), 0), 100) / 100;
      glcn.tellDoubtful(doubtBelow);
      clearTimeout(waiting);
      if (byId("filter").value === "doubtful") waiting = setTimeout(glcn.drawMap, n > 20000 ? 200 : 0);
    };
  };
})();
