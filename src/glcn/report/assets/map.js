"use strict";
/* The map: every row that is shown, in its colour, and the chosen one with its neighbours. */
(() => {
  const { data, make, byId, say } = glcn;
  const map = byId("map");
  const { x, y } = data.map;
  const n = data.rows;
  const size = n < 400 ? 11 : n < 3000 ? 8 : n < 20000 ? 5 : 3;
  const WHOLE = { "xaxis.range": [-2500, 68000], "yaxis.range": [-2500, 68000] };
  let traces = []; // the rows of each trace

  // Without WebGL, plotly's other kind of points does the same, only slower.
  const kind = document.createElement("canvas").getContext("webgl") === null ? "scatter" : "scattergl";
  const trace = (rows, marker) => ({
    type: kind, mode: "markers", x: Float32Array.from(rows, (row) => x[row]), y: Float32Array.from(rows, (row) => y[row]),
    marker: { size, opacity: 0.8, ...marker }, hoverinfo: "none", showlegend: false,
  });
  /* A finger that goes over the map moves the page, unless the button below says that it moves the map. */
  glcn.dragMoves = () => !glcn.COARSE.matches || byId("finger").getAttribute("aria-pressed") === "true";
  const layout = () => ({
    ...glcn.themed(), margin: { l: 0, r: 0, t: 0, b: 0 }, dragmode: glcn.dragMoves() && !glcn.MANY ? "pan" : false, hovermode: "closest", hoverdistance: glcn.COARSE.matches ? 24 : 12,
    uirevision: "map", shapes: marks(), modebar: { bgcolor: "rgba(0,0,0,0)", color: glcn.colourOf("--faint"), activecolor: glcn.colourOf("--ink") },
    xaxis: { visible: false, range: WHOLE["xaxis.range"] }, yaxis: { visible: false, range: WHOLE["yaxis.range"] },
  });

  const bySureness = () => {
    const rows = [];
    for (let row = 0; row < n; row++) if (glcn.visible[row]) rows.push(row);
    traces = [rows];
    const colours = glcn.scale();
    const colorscale = colours.map((colour, place) => [place / (colours.length - 1), colour]);
    return [trace(rows, { color: Float32Array.from(rows, glcn.confidence), cmin: glcn.LEAST_SURE, cmax: 1, colorscale, showscale: false })];
  };
  const byClass = () => {
    const groups = new Map();
    for (let row = 0; row < n; row++) {
      if (!glcn.visible[row]) continue;
      const code = glcn.classOf(row);
      if (!groups.has(code)) groups.set(code, []);
      groups.get(code).push(row);
    }
    const codes = [...groups.keys()].sort((a, b) => a - b);
    traces = codes.map((code) => groups.get(code));
    return codes.map((code) => trace(groups.get(code), { color: glcn.colourOfClass(code), symbol: glcn.shapeOfClass(code) }));
  };
  glcn.drawMap = () => {
    glcn.filterRows();
    let drawn = byId("colour").value === "confidence" ? bySureness() : byClass();
    if (drawn.length === 0) drawn = [{ type: kind, mode: "markers", x: [], y: [] }];
    glcn.fillLegend();
    glcn.fillList();
    glcn.tellHidden();
    return Plotly.react(map, drawn, layout(), { ...glcn.CONFIG, scrollZoom: true, displayModeBar: glcn.COARSE.matches ? true : "hover" });
  };

  /* The chosen row and its neighbours as shapes: these are drawn anew without touching the points. A row that the filter
     hides is drawn here, by a dotted ring in its colour. */
  const marks = () => {
    if (glcn.chosen === undefined) return [];
    const ink = glcn.colourOf("--ink");
    const ring = (row, radius, width, colour) => ({
      type: "circle", xsizemode: "pixel", ysizemode: "pixel", xanchor: x[row], yanchor: y[row], x0: -radius, x1: radius, y0: -radius, y1: radius,
      line: { color: colour, width, dash: glcn.visible[row] ? "solid" : "dot" }, ...(glcn.visible[row] ? {} : { fillcolor: `${glcn.colourOfClass(glcn.classOf(row))}66` }),
    });
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

  /* Zoom about the chosen row, else about the middle; a factor below 1 goes nearer. */
  glcn.zoom = (factor) => {
    const { xaxis, yaxis } = map._fullLayout;
    const around = ([low, high], place) => {
      const middle = glcn.chosen === undefined ? (low + high) / 2 : Math.min(Math.max(place, Math.min(low, high)), Math.max(low, high));
      return [middle + (low - middle) * factor, middle + (high - middle) * factor];
    };
    return Plotly.relayout(map, { "xaxis.range": around(xaxis.range, x[glcn.chosen]), "yaxis.range": around(yaxis.range, y[glcn.chosen]) });
  };
  glcn.zoomOut = () => Plotly.relayout(map, WHOLE);

  glcn.showPair = (truth, predicted) => {
    glcn.showAll();
    glcn.pair = [truth, predicted];
    glcn.drawMap();
    byId("map-part").scrollIntoView();
    map.focus({ preventScroll: true });
  };

  const rowOf = (event) => traces[event.points[0].curveNumber][event.points[0].pointNumber];
  const startTip = () => {
    const tip = byId("tip");
    map.on("plotly_hover", (event) => {
      if (glcn.COARSE.matches) return; // what is tapped is shown below the map
      const row = rowOf(event);
      const picture = glcn.thumbnail(row, 56);
      tip.replaceChildren(...(picture ? [picture] : []), `${glcn.nameOf(row)}: ${glcn.className(data.row.predicted[row])}, ${glcn.percent(glcn.confidence(row))}`);
      tip.hidden = false;
      tip.style.left = `${Math.min(event.event.clientX + 14, window.innerWidth - 180)}px`;
      tip.style.top = `${event.event.clientY + 14}px`;
    });
    map.on("plotly_unhover", () => { tip.hidden = true; });
  };

  const startFinger = () => {
    const button = byId("finger");
    const follow = () => { button.hidden = !glcn.COARSE.matches; map.classList.toggle("moves", glcn.dragMoves()); };
    button.onclick = () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      follow();
      glcn.drawMap();
    };
    glcn.COARSE.addEventListener("change", () => { follow(); glcn.drawMap(); });
    follow();
  };

  glcn.startMap = async () => {
    const how = glcn.COARSE.matches ? "Tap a point; the buttons in the corner zoom." : "Drag to move, wheel or the buttons to zoom.";
    say("map-words", `${data.map.method}. Rows that lie together look alike to the network; distances between far groups mean little. ${how}`);
    startFinger();
    await glcn.drawMap();
    glcn.startDrag();
    map.on("plotly_click", (event) => { if (!glcn.dragged) glcn.choose(rowOf(event), { reveal: true }); });
    startTip();
    byId("reset").onclick = () => {
      glcn.showAll();
      byId("found").replaceChildren();
      glcn.drawMap().then(glcn.zoomOut);
    };
    document.addEventListener("theme", () => glcn.drawMap());
  };
})();
