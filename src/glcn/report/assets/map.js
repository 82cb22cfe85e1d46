"use strict";
/* The map: which rows are shown, in what colour, and which one is chosen. */
(() => {
  const { data, make, byId, say } = glcn;
  const map = byId("map");
  const { x, y } = data.map;
  const { predicted, truth, given } = data.row;
  const n = data.rows;
  const size = n < 400 ? 11 : n < 3000 ? 8 : n < 20000 ? 5 : 3;
  const hidden = new Set(); // classes that the legend hides
  let pair = null; // [true class, predicted class] of a cell of the confusion matrix
  let traces = []; // the rows of each trace
  let visible = new Uint8Array(n).fill(1);

  const doubtBelow = () => Math.min(Math.max(Number(byId("doubt").value) || 0, 0), 100) / 100;
  const filters = {
    all: () => true,
    wrong: (row) => glcn.isWrong(row),
    doubtful: (row) => glcn.confidence(row) < doubtBelow(),
    unlabelled: (row) => given[row] < 0,
    labelled: (row) => given[row] >= 0,
  };
  const classOf = (row) => (byId("colour").value === "truth" ? truth[row] : predicted[row]);

  const filtered = () => {
    const kept = filters[byId("filter").value];
    const below = Math.round(doubtBelow() * glcn.FULL);
    const doubtful = byId("filter").value === "doubtful";
    visible = new Uint8Array(n);
    let count = 0;
    for (let row = 0; row < n; row++) {
      const fits = doubtful ? data.row.confidence[row] < below : kept(row);
      if (fits && !hidden.has(classOf(row)) && (pair === null || (truth[row] === pair[0] && predicted[row] === pair[1] && data.row.role[row] === glcn.judgedRole))) {
        visible[row] = 1;
        count++;
      }
    }
    const which = pair === null ? "" : `: ${glcn.className(pair[0])} predicted as ${glcn.className(pair[1])}`;
    say("count", `${count} of ${n} rows shown${which}`);
  };
  glcn.judgedRole = data.scores.judged_by === "test" ? 3 : 2;

  // Without WebGL, plotly's other kind of points does the same, only slower.
  const kind = document.createElement("canvas").getContext("webgl") === null ? "scatter" : "scattergl";
  const trace = (rows, marker) => ({
    type: kind, mode: "markers", x: Float32Array.from(rows, (row) => x[row]), y: Float32Array.from(rows, (row) => y[row]),
    marker: { size, opacity: 0.8, ...marker }, hoverinfo: "none", showlegend: false,
  });
  const layout = () => ({
    ...glcn.themed(), margin: { l: 0, r: 0, t: 0, b: 0 }, dragmode: "pan", hovermode: "closest", hoverdistance: 12, uirevision: "map", shapes: marks(),
    xaxis: { visible: false, range: [-2500, 68000] }, yaxis: { visible: false, range: [-2500, 68000] },
  });

  glcn.drawMap = () => {
    filtered();
    if (byId("colour").value === "confidence") {
      const rows = [];
      for (let row = 0; row < n; row++) if (visible[row]) rows.push(row);
      traces = [rows];
      const bar = { title: { text: "sure" }, tickformat: ".0%", thickness: 12, len: 0.6, x: 0.99, xanchor: "right", bgcolor: glcn.colourOf("--panel") };
      const drawn = [trace(rows, { color: Float32Array.from(rows, glcn.confidence), cmin: 0, cmax: 1, colorscale: "Cividis", colorbar: bar })];
      return finish(drawn);
    }
    const groups = new Map();
    for (let row = 0; row < n; row++) {
      if (!visible[row]) continue;
      const code = classOf(row);
      if (!groups.has(code)) groups.set(code, []);
      groups.get(code).push(row);
    }
    const codes = [...groups.keys()].sort((a, b) => a - b);
    traces = codes.map((code) => groups.get(code));
    return finish(codes.map((code) => trace(groups.get(code), { color: glcn.colourOfClass(code), symbol: glcn.shapeOfClass(code) })));
  };
  const finish = (drawn) => {
    fillLegend();
    if (byId("list-part").open) fillList();
    if (drawn.length === 0) drawn = [{ type: kind, mode: "markers", x: [], y: [] }];
    return Plotly.react(map, drawn, layout(), { ...glcn.CONFIG, scrollZoom: true });
  };

  /* The legend is ours: a name in it is text, whatever it holds. */
  const fillLegend = () => {
    const legend = byId("legend");
    if (byId("colour").value === "confidence") { legend.replaceChildren(); return; }
    const codes = data.classes.map((_, code) => code);
    if (byId("colour").value === "truth" && truth.some((code) => code < 0)) codes.push(-1);
    legend.replaceChildren(...codes.map((code) => {
      const button = make("button", { type: "button", "aria-pressed": String(!hidden.has(code)) }, swatch(code), glcn.className(code));
      button.onclick = () => {
        if (!hidden.delete(code)) hidden.add(code);
        glcn.drawMap();
        byId("legend").children[codes.indexOf(code)].firstChild.focus();
      };
      return make("li", {}, button);
    }));
  };
  const OUTLINES = { circle: "circle(50%)", "circle-open": "circle(50%)", "triangle-up": "polygon(50% 0, 100% 100%, 0 100%)", square: "inset(5%)",
    diamond: "polygon(50% 0, 100% 50%, 50% 100%, 0 50%)", cross: "polygon(33% 0, 67% 0, 67% 33%, 100% 33%, 100% 67%, 67% 67%, 67% 100%, 33% 100%, 33% 67%, 0 67%, 0 33%, 33% 33%)",
    x: "polygon(20% 0, 50% 30%, 80% 0, 100% 20%, 70% 50%, 100% 80%, 80% 100%, 50% 70%, 20% 100%, 0 80%, 30% 50%, 0 20%)" };
  const swatch = (code) => {
    const mark = make("span", { className: "swatch", "aria-hidden": "true" });
    mark.style.background = glcn.colourOfClass(code);
    mark.style.clipPath = OUTLINES[glcn.shapeOfClass(code)];
    return mark;
  };
  glcn.swatch = swatch;

  /* The chosen row and its neighbours as shapes: these are drawn anew without touching the points. */
  const marks = () => {
    if (glcn.chosen === undefined) return [];
    const ink = glcn.colourOf("--ink");
    const ring = (row, radius, width, colour) => ({ type: "circle", xsizemode: "pixel", ysizemode: "pixel", xanchor: x[row], yanchor: y[row], x0: -radius, x1: radius, y0: -radius, y1: radius, line: { color: colour, width } });
    const near = glcn.neighborsOf(glcn.chosen);
    const greatest = Math.max(...near.map((each) => each.weight), 1e-9);
    return [
      ...near.map((each) => ({ type: "line", x0: x[glcn.chosen], y0: y[glcn.chosen], x1: x[each.row], y1: y[each.row], line: { color: ink, width: 1 + 3 * (each.weight / greatest) }, opacity: 0.55 })),
      ...near.map((each) => ring(each.row, size / 2 + 4, 2, ink)),
      ring(glcn.chosen, size / 2 + 7, 3.5, glcn.colourOf("--mark")),
    ];
  };
  glcn.markChosen = () => {
    const changes = { shapes: marks() };
    const [row, { xaxis, yaxis }] = [glcn.chosen, map._fullLayout];
    const inside = (value, [low, high]) => value >= Math.min(low, high) && value <= Math.max(low, high);
    if (!inside(x[row], xaxis.range) || !inside(y[row], yaxis.range)) {
      const [w, h] = [Math.abs(xaxis.range[1] - xaxis.range[0]) / 2, Math.abs(yaxis.range[1] - yaxis.range[0]) / 2];
      Object.assign(changes, { "xaxis.range": [x[row] - w, x[row] + w], "yaxis.range": [y[row] - h, y[row] + h] });
    }
    return Plotly.relayout(map, changes);
  };

  /* Lists and search: the way to a row without a mouse. */
  const fillList = () => {
    const rows = [];
    for (let row = 0; row < n; row++) if (visible[row]) rows.push(row);
    rows.sort((a, b) => data.row.confidence[a] - data.row.confidence[b]);
    byId("list").replaceChildren(...rows.slice(0, 50).map((row) => make("li", {}, glcn.rowButton(row), ` ${glcn.className(predicted[row])}, ${glcn.percent(glcn.confidence(row))}`)));
  };
  const search = () => {
    const wanted = byId("wanted").value.trim();
    const found = byId("found");
    found.replaceChildren();
    if (wanted === "") return;
    const hits = [];
    let exact = -1;
    for (let row = 0; row < n && exact < 0; row++) {
      const name = glcn.nameOf(row);
      if (name === wanted) exact = row;
      else if (hits.length < 12 && name.toLowerCase().includes(wanted.toLowerCase())) hits.push(row);
    }
    if (exact >= 0) glcn.choose(exact, { focus: true });
    else if (hits.length === 0) found.append(make("p", { role: "status" }, `There is no row ${wanted}.`));
    else found.append(make("p", {}, "Did you mean ", ...hits.flatMap((row) => [glcn.rowButton(row), " "])));
  };
  glcn.showPair = (truth_, predicted_) => {
    pair = [truth_, predicted_];
    byId("filter").value = "all";
    hidden.clear();
    glcn.drawMap();
    byId("map-part").scrollIntoView();
  };

  /* Arrow keys go to the nearest row on that side. */
  const directions = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
  const beside = ([dx, dy]) => {
    const from = glcn.chosen ?? visible.indexOf(1);
    if (glcn.chosen === undefined) return from;
    let [best, nearest] = [-1, Infinity];
    for (let row = 0; row < n; row++) {
      if (!visible[row] || row === from) continue;
      const [a, b] = [x[row] - x[from], y[row] - y[from]];
      const along = a * dx + b * dy;
      const aside = Math.abs(a * dy + b * dx);
      if (along > 0 && aside <= along && along + 2 * aside < nearest) [best, nearest] = [row, along + 2 * aside];
    }
    return best;
  };

  glcn.startMap = async () => {
    if (!truth.some((code) => code >= 0)) byId("colour").querySelector("[value=truth]").disabled = true;
    if (!truth.some((code, row) => code >= 0 && given[row] < 0) && data.scores.judged_by === null) byId("filter").querySelector("[value=wrong]").disabled = true;
    say("map-words", `${data.map.method}. Rows that lie together look alike to the network; distances between far groups mean little. Drag to move, wheel or the buttons to zoom.`);
    await glcn.drawMap();
    map.on("plotly_click", (event) => { const { curveNumber, pointNumber } = event.points[0]; glcn.choose(traces[curveNumber][pointNumber]); });
    const tip = byId("tip");
    map.on("plotly_hover", (event) => {
      const { curveNumber, pointNumber } = event.points[0];
      const row = traces[curveNumber][pointNumber];
      const picture = glcn.thumbnail(row, 56);
      tip.replaceChildren(...(picture ? [picture] : []), `${glcn.nameOf(row)}: ${glcn.className(predicted[row])}, ${glcn.percent(glcn.confidence(row))}`);
      tip.hidden = false;
      tip.style.left = `${Math.min(event.event.clientX + 14, window.innerWidth - 180)}px`;
      tip.style.top = `${event.event.clientY + 14}px`;
    });
    map.on("plotly_unhover", () => { tip.hidden = true; });
    map.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && glcn.chosen !== undefined) byId("row").focus();
      if (!(event.key in directions) || event.target !== map) return;
      event.preventDefault();
      const row = beside(directions[event.key]);
      if (row >= 0) glcn.choose(row);
    });
    for (const id of ["colour", "filter"]) byId(id).onchange = () => { pair = null; glcn.drawMap(); };
    byId("doubt").onchange = () => glcn.drawMap();
    byId("search").onsubmit = (event) => { event.preventDefault(); search(); };
    byId("reset").onclick = () => {
      pair = null;
      hidden.clear();
      byId("filter").value = "all";
      byId("found").replaceChildren();
      glcn.drawMap().then(() => Plotly.relayout(map, { "xaxis.range": [-2500, 68000], "yaxis.range": [-2500, 68000] }));
    };
    byId("list-part").ontoggle = () => { if (byId("list-part").open) fillList(); };
    document.addEventListener("theme", () => glcn.drawMap());
  };
})();
