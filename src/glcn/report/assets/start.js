"use strict";
(async () => {
  await glcn.sheetReady;
  glcn.fillNext();
  glcn.startFilters();
  glcn.startFind();
  glcn.startKeys();
  await glcn.startMap();
  document.documentElement.dataset.ready = "map";
  performance.mark("map");
  // The small plots come after the map, when the browser has time.
  await new Promise((ready) => setTimeout(ready, 0));
  glcn.drawPlots();
  document.documentElement.dataset.ready = "all";
})();
