"use strict";
/* The legend is ours and not plotly's: a name in it is text, whatever it holds. */
(() => {
  const { data, make, byId, percent } = glcn;

  const classButton = (code, plain) => {
    const words = [...(plain ? [] : [glcn.swatch(code)]), glcn.className(code)];
    const button = make("button", { type: "button", "aria-pressed": String(!glcn.hidden.has(code)) }, ...words);
    button.dataset.code = code;
    button.onclick = () => {
      if (!glcn.hidden.delete(code)) glcn.hidden.add(code);
      glcn.drawMap();
      byId("legend").querySelector(`[data-code="${code}"]`).focus();
    };
    return make("li", {}, button);
  };

  /* Colours of sureness stand beside the classes, outside the map, where they cover no point. */
  const scale = () => {
    const strip = make("span", { className: "strip", "aria-hidden": "true" });
    strip.style.background = `linear-gradient(to right, ${glcn.scale().join(", ")})`;
    return make("li", { className: "scale" }, `${percent(glcn.LEAST_SURE, 0)} sure`, strip, "100%");
  };

  glcn.fillLegend = () => {
    const way = byId("colour").value;
    const codes = data.classes.map((_, code) => code);
    if (way === "truth" && data.row.truth.some((code) => code < 0)) codes.push(-1);
    const buttons = codes.map((code) => classButton(code, way === "confidence"));
    byId("legend").replaceChildren(...(way === "confidence" ? [scale()] : []), ...buttons);
  };
})();
