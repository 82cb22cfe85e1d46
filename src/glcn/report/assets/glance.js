"use strict";
/* Words, figures and tables: all that can be shown before any plot is drawn. */
(() => {
  const { data, make, percent, byId, say, fillTable } = glcn;
  const { scores, graph, summary } = data;
  const MOST_CLASSES = 40; // in a confusion matrix that can still be read

  document.title = `${data.dataset}: what was learned`;
  say("title", `${data.dataset}: what was learned`);
  say("subtitle", `${data.rows} rows, ${data.features} features, ${data.classes.length} classes; ${summary.method}, seed ${summary.seed}, split ${summary.split}; data ${summary.fingerprint}; run ${data.run}`);

  const card = (name, value, words, id = "") => make("div", id ? { id } : {}, make("dt", {}, name), make("dd", {}, value, make("small", {}, words)));
  const of = (part) => (part.rows ? `of ${part.rows} rows` : "no such rows with a known label");
  const inRole = (role) => data.row.role.reduce((sum, each) => sum + (each === role), 0);
  const doubtful = (below) => {
    let count = 0;
    for (let row = 0; row < data.rows; row++) count += glcn.confidence(row) < below;
    return card("doubtful", count, `rows less sure than ${+(100 * below).toFixed(2)}%`, "doubtful");
  };
  glcn.tellDoubtful = (below) => byId("doubtful").replaceWith(doubtful(below));

  const { reliability } = scores;
  const offBy = reliability.rows === 0 ? "unknown: no rows to compare with"
    : reliability.gap === null ? `too few rows to tell: ${reliability.rows}` : `on average, ${reliability.rows} ${scores.judged_by} rows; 0% is honest`;
  const moved = graph.collapsed ? ["collapsed", "as good as uniform"]
    : [percent(graph.distance_from_uniform), graph.same_label_fell ? "of the weight moved, away from the same label" : "of the weight moved from uniform"];
  byId("cards").append(
    card("test accuracy", percent(scores.accuracy.test.share), of(scores.accuracy.test)),
    card("validation accuracy", percent(scores.accuracy.validation.share), of(scores.accuracy.validation)),
    card("labels fitted", inRole(1), `of ${data.rows} rows; ${inRole(2)} more held out`),
    doubtful(0.7),
    card("sureness is off by", percent(reliability.gap), offBy),
    card("learned graph", ...moved),
  );

  const warn = (text) => byId("warnings").append(make("p", { className: "warning" }, text));
  if (graph.collapsed) warn(`The learned graph collapsed: its weights are as good as uniform, so nothing was learned about which neighbours to trust.`);
  if (graph.same_label_fell) warn(`The learned graph moved weight away from neighbours of the same label: between labelled rows their share fell from ${percent(graph.uniform_same_label_mass)} to ${percent(graph.same_label_mass)}. Look at the neighbours before you trust it.`);
  if (summary.interrupted) warn("The training was interrupted; these are the best weights until then.");
  if (scores.judged_by === null) warn("No row outside training has a known label, so nothing here says how often the answers are right.");

  const judged = scores.judged_by;
  say("judged", judged === null ? "No labels are known beyond those that were fitted, so precision and recall are unknown."
    : `Precision and recall on the ${scores.accuracy[judged].rows} ${judged} rows, none of which was fitted.`);
  fillTable(byId("classes"), ["class", "labelled", "predicted", "mean confidence", "precision", "recall"],
    scores.classes.map((each, code) => [glcn.breaking(data.classes[code]), each.labelled, each.predicted, percent(each.confidence), percent(each.precision), percent(each.recall)]));

  /* The confusion matrix; of very many classes, the most frequent confusions. */
  const confusion = byId("confusion");
  const jump = (truth, predicted, count) => make("button", { type: "button", onclick: () => glcn.showPair(truth, predicted),
    "aria-label": `${count} rows of ${data.classes[truth]} predicted as ${data.classes[predicted]}; show them` }, count);
  if (data.classes.length <= MOST_CLASSES) {
    const head = make("tr", {}, make("th", { scope: "col" }, ""), ...data.classes.map((name) => make("th", { scope: "col" }, ...glcn.breakable(name))));
    const lines = scores.confusion.map((line, truth) => {
      const all = line.reduce((sum, count) => sum + count, 0);
      return make("tr", {}, make("th", { scope: "row" }, ...glcn.breakable(data.classes[truth])), ...line.map((count, predicted) => {
        const cell = make("td", {}, count ? jump(truth, predicted, count) : "");
        if (count) cell.style.background = `rgba(var(--shade), ${(0.08 + 0.42 * (count / all)).toFixed(3)})`;
        return cell;
      }));
    });
    confusion.replaceChildren(make("thead", {}, head), make("tbody", {}, ...lines));
  } else {
    const pairs = [];
    scores.confusion.forEach((line, truth) => line.forEach((count, predicted) => { if (count && truth !== predicted) pairs.push([count, truth, predicted]); }));
    pairs.sort((a, b) => b[0] - a[0]);
    fillTable(confusion, ["true class", "predicted as", "rows"], pairs.slice(0, 40).map(([count, truth, predicted]) => [data.classes[truth], data.classes[predicted], jump(truth, predicted, count)]));
  }

  const flatters = scores.judged_by === "validation" && data.calibrated_on > 0 ? " The probabilities were calibrated on these very rows, which flatters them." : "";
  const differ = reliability.gap === null ? "these are too few to say by how much sureness and accuracy differ."
    : `sureness and accuracy differ by ${percent(reliability.gap)} on average.${flatters}`;
  say("reliability-words", reliability.rows === 0 ? "Unknown: no label is known besides those that were fitted."
    : `On ${reliability.rows} ${scores.judged_by} rows, which were not fitted: ${differ} Points below the line are answers that are surer than they should be.`);
  fillTable(byId("reliability-table"), ["how sure", "how often right", "rows"], reliability.bins.map((bin) => [percent(bin.confidence), percent(bin.accuracy), bin.rows]));
  const seconds = `${summary.seconds === null ? "?" : Math.round(summary.seconds)} seconds`;
  say("training-words", data.rounds > 1
    ? `Up to ${data.rounds} rounds in ${seconds}; the weights of epoch ${data.best_epoch} of ${summary.epochs} in round ${data.round} were kept.`
    : `${summary.epochs} epochs in ${seconds}; the weights of epoch ${data.best_epoch} were kept.`);

  /* Some twenty epochs are enough to follow a curve by ear. */
  const curves = Object.entries(data.history).filter(([, curve]) => curve.some((value) => value !== null));
  const told = (curves[0]?.[1] ?? []).map((_, epoch) => epoch).filter((epoch, _, all) => epoch % Math.ceil(all.length / 20) === 0 || epoch === data.best_epoch || epoch === all.length - 1);
  fillTable(byId("losses-table"), ["epoch", ...curves.map(([name]) => name.replaceAll("_", " "))],
    told.map((epoch) => [epoch === data.best_epoch ? `${epoch} (kept)` : epoch, ...curves.map(([, curve]) => (curve[epoch] === null ? "–" : curve[epoch].toPrecision(3)))]));

  const sentence = graph.words.charAt(0).toUpperCase() + graph.words.slice(1);
  const recall = graph.neighbor_recall;
  say("graph-words", `${sentence}. A row's weights have an entropy of ${graph.row_entropy.toFixed(2)} nats (uniform: ${graph.uniform_row_entropy.toFixed(2)}); ${graph.num_edges} edges.${recall === null || recall === 1 ? "" : ` The search found ${percent(recall)} of the true nearest neighbours.`}`);
  const line = (name, share) => {
    const bar = make("div", { className: "bar" });
    bar.style.width = percent(share);
    return make("tr", {}, make("td", {}, name), make("td", { className: "bar-cell" }, bar), make("td", { className: "number" }, percent(share)));
  };
  byId("same-label").append(graph.same_label_mass === null
    ? make("p", { className: "fine" }, "Unknown: no edge joins two labelled rows.")
    : make("table", {}, make("tbody", {}, line("uniform", graph.uniform_same_label_mass), line("learned", graph.same_label_mass))));

  if (graph.moved !== null) {
    const step = Math.max(graph.largest_moved, 1e-3) / graph.moved.length;
    fillTable(byId("moved-table"), ["share that moved", "rows"], graph.moved.map((count, place) => [`${percent(place * step)} to ${percent((place + 1) * step)}`, count]));
  }
  for (const id of ["reliability-table", "losses-table", "moved-table"]) byId(id).closest("details").hidden = byId(id).rows.length < 2;

  const flat = [];
  const spread = (prefix, value) => {
    if (value !== null && typeof value === "object" && !Array.isArray(value)) for (const key of Object.keys(value)) spread(prefix ? `${prefix} · ${key}` : key, value[key]);
    else flat.push([prefix, Array.isArray(value) ? value.join(", ") : String(value)]);
  };
  spread("", data.settings);
  fillTable(byId("settings"), ["setting", "value"], flat);
  say("settings-words", `All ${flat.length} settings`);
})();
