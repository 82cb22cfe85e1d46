"use strict";
/* Dragging the map. Few points are drawn anew for every move, by plotly. Of many, the picture moves with the hand, and they
   are drawn when it rests or lets go; until then the side from which it was moved stays empty. */
(() => {
  const { data, byId } = glcn;
  const map = byId("map");
  const REST = 150; // milliseconds
  const FIRM = 4; // pixels until which a press is a click
  glcn.MANY = data.rows >= 20000;
  glcn.dragged = false; // whether the last press moved the map or the page, and so chose nothing

  const shift = (dx, dy) => {
    for (const layer of map.querySelectorAll(".gl-container, .shapelayer")) layer.style.transform = dx || dy ? `translate(${dx}px, ${dy}px)` : "";
  };
  const moved = ({ range: [low, high], _length: pixels }, by) => {
    const step = (by * (high - low)) / pixels;
    return [low + step, high + step];
  };

  const startMany = () => {
    let from = null; // where the picture would lie still
    let resting = 0;
    const settle = (event) => {
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      from = { x: event.clientX, y: event.clientY };
      const { xaxis, yaxis } = map._fullLayout;
      Plotly.relayout(map, { "xaxis.range": moved(xaxis, -dx), "yaxis.range": moved(yaxis, dy) });
      shift(0, 0);
    };
    const move = (event) => {
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!glcn.dragged && Math.hypot(dx, dy) < FIRM) return;
      glcn.dragged = true;
      map.classList.add("dragged");
      byId("tip").hidden = true;
      shift(dx, dy);
      clearTimeout(resting);
      resting = setTimeout(() => settle(event), REST);
    };
    const end = (event) => {
      window.removeEventListener("pointermove", move);
      clearTimeout(resting);
      map.classList.remove("dragged");
      if (glcn.dragged && event.type === "pointerup") settle(event);
      else shift(0, 0);
    };
    map.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || event.button !== 0 || !glcn.dragMoves() || event.target.closest(".modebar")) return;
      from = { x: event.clientX, y: event.clientY };
      window.addEventListener("pointermove", move);
      window.addEventListener("pointerup", end, { once: true });
      window.addEventListener("pointercancel", end, { once: true });
    });
  };

  glcn.startDrag = () => {
    // A finger that scrolled the page has chosen nothing either, though plotly takes its end for a click.
    map.addEventListener("pointerdown", () => { glcn.dragged = false; }, true);
    map.addEventListener("pointercancel", () => { glcn.dragged = true; }, true);
    if (glcn.MANY) startMany();
  };
})();
