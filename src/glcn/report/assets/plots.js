"use strict";
/* The small plots. No text from users' files goes through plotly, which reads some of it as markup. */
(() => {
  const { data, byId } = glcn;
  const merged = (layout) => {
    const base = glcn.themed();
    return { ...base, margin: { l: 55, r: 15, t: 10, b: 45 }, ...layout, xaxis: { ...base.xaxis, ...layout.xaxis }, yaxis: { ...base.yaxis, ...layout.yaxis } };
  };
  const drawn = [];
  const draw = (id, traces, layout) => {
    drawn.push([id, traces, layout]);
    return Plotly.newPlot(byId(id), traces, merged(layout), { ...glcn.CONFIG, displayModeBar: false });
  };

  glcn.drawPlots = () => {
    const { bins, rows } = data.scores.reliability;
    if (rows > 0) {
      const x = bins.map((bin) => bin.confidence);
      draw("reliability", [
        { x: [0, 1], y: [0, 1], mode: "lines", line: { dash: "dot", color: "#8a8f98" }, hoverinfo: "skip", showlegend: false },
        { x, y: bins.map((bin) => bin.accuracy), mode: "lines+markers", marker: { size: bins.map((bin) => 6 + 18 * Math.sqrt(bin.rows / rows)), color: "#0072B2" }, line: { color: "#0072B2" },
          text: bins.map((bin) => `${bin.rows} rows`), hovertemplate: "sure %{x:.1%}, right %{y:.1%}, %{text}<extra></extra>", showlegend: false },
      ], { xaxis: { title: { text: "how sure" }, range: [0, 1.03], tickformat: ".0%" }, yaxis: { title: { text: "how often right" }, range: [0, 1.05], tickformat: ".0%" } });
    } else byId("reliability").hidden = true;

    const titles = { loss: "loss", cross_entropy: "cross-entropy", validation_loss: "loss, validation", validation_cross_entropy: "cross-entropy, validation" };
    const curves = Object.entries(data.history).filter(([name, curve]) => !name.includes("accuracy") && curve.some((value) => value !== null));
    draw("losses", curves.map(([name, y], place) => ({
      y, mode: "lines", name: titles[name] ?? name.replaceAll("_", " "), line: { color: glcn.PALETTE[place % glcn.PALETTE.length], dash: name.startsWith("validation") ? "dash" : "solid", width: 2 },
    })), {
      xaxis: { title: { text: "epoch" } }, yaxis: { title: { text: "loss" }, rangemode: "tozero" }, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 },
      shapes: [{ type: "line", x0: data.best_epoch, x1: data.best_epoch, y0: 0, y1: 1, yref: "paper", line: { dash: "dot", color: "#8a8f98" } }],
    });

    const { moved, largest_moved: largest } = data.graph;
    if (moved !== null) {
      const step = Math.max(largest, 1e-3) / moved.length;
      draw("moved", [{ type: "bar", x: moved.map((_, place) => (place + 0.5) * step), y: moved, width: step * 0.95, marker: { color: "#0072B2" }, hovertemplate: "%{y} rows moved about %{x:.1%}<extra></extra>" }],
        { xaxis: { title: { text: "share of a row's weight that moved" }, tickformat: ".0%" }, yaxis: { title: { text: "rows" } } });
    } else byId("moved").textContent = "Not drawn: the graph joins all pairs of rows.";
  };
  document.addEventListener("theme", () => drawn.forEach(([id, traces, layout]) => Plotly.react(byId(id), traces, merged(layout), { ...glcn.CONFIG, displayModeBar: false })));
})();
