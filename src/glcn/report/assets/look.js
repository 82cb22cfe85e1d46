"use strict";
/* How classes and sureness look, and what all plots have in common. */
(() => {
  const { data, make, colourOf } = glcn;
  // The shape changes with every class. Classes that share one have colours that readers who see no red or no green
  // tell apart; so they do any two of the first seven, and each colour and the grey of unknown classes.
  const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#AA3377", "#56B4E9", "#84521F", "#7D8500", "#8E81F4", "#C00113", "#F7577C", "#006C51", "#F57B49"];
  const SHAPES = ["circle", "triangle-up", "square", "diamond", "cross", "x"];
  const ROUND = PALETTE.length;
  glcn.PALETTE = PALETTE;
  glcn.colourOfClass = (code) => (code < 0 ? "#9AA1AB" : PALETTE[code % ROUND]);
  // When the colours begin again, the shapes go on by one, so that both repeat together only after 72 classes.
  glcn.shapeOfClass = (code) => (code < 0 ? "circle-open" : SHAPES[(code + Math.floor(code / ROUND)) % SHAPES.length]);

  // From unsure to sure; both ends stand out from the paper below them.
  const SCALES = { light: ["#0B2A6B", "#4A5A86", "#7C7A6A", "#A68A1E"], dark: ["#4F7FD6", "#8D9BB0", "#C4B973", "#FEE838"] };
  glcn.scale = () => SCALES[document.documentElement.dataset.theme];
  glcn.LEAST_SURE = 1 / data.classes.length; // nobody is less sure of the likeliest class

  const OUTLINES = {
    circle: "circle(50%)", "triangle-up": "polygon(50% 0, 100% 100%, 0 100%)", square: "inset(5%)", diamond: "polygon(50% 0, 100% 50%, 50% 100%, 0 50%)",
    cross: "polygon(33% 0, 67% 0, 67% 33%, 100% 33%, 100% 67%, 67% 67%, 67% 100%, 33% 100%, 33% 67%, 0 67%, 0 33%, 33% 33%)",
    x: "polygon(20% 0, 50% 30%, 80% 0, 100% 20%, 70% 50%, 100% 80%, 80% 100%, 50% 70%, 20% 100%, 0 80%, 30% 50%, 0 20%)",
  };
  glcn.swatch = (code) => {
    const mark = make("span", { className: code < 0 ? "swatch open" : "swatch", "aria-hidden": "true" });
    if (code < 0) mark.style.borderColor = glcn.colourOfClass(code);
    else {
      mark.style.background = glcn.colourOfClass(code);
      mark.style.clipPath = OUTLINES[glcn.shapeOfClass(code)];
    }
    return mark;
  };

  // Only these buttons: plotly has one that sends the plot to its maker's server. Many points are drawn at the screen's
  // plain resolution, which takes a quarter of the time.
  glcn.CONFIG = {
    displaylogo: false, responsive: true, plotGlPixelRatio: data.rows > 5000 ? 1 : 2,
    modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d"]], plotlyServerURL: "", showSendToCloud: false,
  };
  glcn.themed = () => {
    const axis = { gridcolor: colourOf("--line"), zerolinecolor: colourOf("--line"), linecolor: colourOf("--line") };
    return { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: colourOf("--ink") }, xaxis: axis, yaxis: axis };
  };
})();
