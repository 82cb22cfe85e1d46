"use strict";
/* The chosen row: what it is, how sure, and the neighbours that decided, as `glcn explain` tells. */
(() => {
  const { data, make, byId, percent, points, fillTable, className, nameOf, breaking } = glcn;
  const { predicted, truth, given, role } = data.row;
  const { evidence, probabilities, columns } = data;
  const path = []; // rows that were chosen before, for going back

  glcn.neighborsOf = (row) => {
    const found = [];
    for (let place = row * evidence.per_row; place < (row + 1) * evidence.per_row; place++) {
      if (evidence.neighbors[place] < 0) break;
      found.push({ row: evidence.neighbors[place], weight: evidence.weights[place] / glcn.FULL, through: evidence.through[place] / glcn.SIGNED });
    }
    return found;
  };

  const scrolling = (table) => make("div", { className: "scroll" }, table);

  const facts = (row) => {
    const lines = [["predicted", `${className(predicted[row])}, ${percent(glcn.confidence(row))}`]];
    if (truth[row] >= 0) lines.push(["true class", className(truth[row])]);
    lines.push(["role", given[row] >= 0 ? `${glcn.roles[role[row]]} (${className(given[row])})` : role[row] === 3 ? "test" : "unlabelled"]);
    const table = make("table", { id: "facts" }, make("tbody", {}, ...lines.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", { className: name === "true class" && glcn.isWrong(row) ? "wrong" : "" }, breaking(value))))));
    return table;
  };

  const shares = (row) => {
    const lines = [];
    for (let rank = 0; rank < Math.min(probabilities.per_row, 12); rank++) {
      const place = row * probabilities.per_row + rank;
      const share = probabilities.shares[place] / glcn.FULL;
      const bar = make("div", { className: "bar" });
      bar.style.width = percent(share);
      lines.push([breaking(className(probabilities.classes[place])), bar, percent(share)]);
    }
    const table = make("table", { id: "shares" });
    fillTable(table, ["class", "", "probability"], lines);
    table.querySelectorAll("td:nth-child(2)").forEach((cell) => { cell.className = "bar-cell"; });
    return table;
  };

  const neighbors = (row) => {
    const asked = evidence.asked[row] === 1;
    const near = glcn.neighborsOf(row);
    if (near.length === 0) return [make("p", {}, "It has no neighbours: its own features decided.")];
    const named = (each) => {
      const cell = make("span", {}, glcn.rowButton(each.row));
      const picture = glcn.thumbnail(each.row, 28);
      if (picture) cell.prepend(picture, " ");
      return cell;
    };
    const label = (each) => (given[each.row] >= 0 ? className(given[each.row]) : `(${className(predicted[each.row])})`);
    const table = make("table", { id: "neighbors" });
    fillTable(table, ["neighbour", "label", "weight", ...(asked ? ["through it"] : [])],
      near.map((each) => [named(each), breaking(label(each)), percent(each.weight), ...(asked ? [points(each.through)] : [])]));
    const order = asked ? "Those through which most came stand first." : "The heaviest stand first.";
    const words = [make("p", { className: "fine" }, `${order} Labels in brackets are predicted. It hears ${percent(evidence.own[row] / glcn.FULL)} from itself.`)];
    if (asked) {
      const answer = className(evidence.label[row]);
      const shareAlone = percent(evidence.probability_alone[row] / glcn.FULL);
      const alone = evidence.label_alone[row] === evidence.label[row] ? `the same at ${shareAlone}` : `${className(evidence.label_alone[row])}, and ${answer} at ${shareAlone}`;
      words.push(make("p", { className: "fine" }, `The last column is in points of probability, found by leaving the neighbour out and asking again. Asked so, without its own label, it is ${answer}, ${percent(evidence.probability[row] / glcn.FULL)}; by its own features alone ${alone}.`));
    } else words.push(make("p", { className: "fine" }, "Of so many rows only the least sure ones were asked about without each neighbour; here are weights only. `glcn explain` tells the rest."));
    return [scrolling(table), ...words];
  };

  const standsOut = (row) => {
    if (columns === null) return [];
    const lines = [];
    for (let place = row * columns.per_row; place < (row + 1) * columns.per_row; place++) {
      const column = columns.columns[place];
      lines.push([breaking(columns.names[column]), String(Number(columns.values[place].toPrecision(4))), percent(columns.weights[column])]);
    }
    const table = make("table", { id: "columns" });
    fillTable(table, ["column", columns.own_units ? "value" : "value, scaled", "counts in the graph"], lines);
    return [make("h3", {}, "Columns in which it stands out"), scrolling(table)];
  };

  const show = (row) => {
    const panel = byId("row");
    const picture = glcn.thumbnail(row, 112);
    const back = make("button", { type: "button", disabled: path.length === 0, onclick: () => glcn.choose(path.pop(), { back: true, focus: true }) }, "← back");
    panel.replaceChildren(
      make("h3", {}, `Row ${nameOf(row)}`), make("p", { id: "not-shown" }), ...(picture ? [picture] : []), facts(row),
      make("p", {}, make("label", {}, "Its label: ", glcn.labelInput(row, "panel"))),
      make("h3", {}, "Probabilities"), shares(row),
      make("h3", {}, "Neighbours that decided"), ...neighbors(row), ...standsOut(row),
      make("p", { className: "ways" }, back, make("a", { className: "narrow", href: "#map-part" }, "↑ to the map")),
    );
    panel.querySelectorAll(".scroll").forEach(glcn.scrolls);
    panel.scrollTop = 0;
    glcn.tellHidden();
    glcn.say("heard", `Row ${nameOf(row)}: ${className(predicted[row])}, ${percent(glcn.confidence(row))}${glcn.isWrong(row) ? `; in truth ${className(truth[row])}` : ""}`);
  };

  /* The map shows a row of which the panel tells even where the filter hides it, but not as a point. */
  glcn.tellHidden = () => {
    if (glcn.chosen === undefined) return;
    const place = byId("not-shown");
    place.hidden = glcn.visible[glcn.chosen] === 1;
    if (place.hidden) place.replaceChildren();
    else place.replaceChildren("This row is not among those shown; a dotted ring marks its place. ", make("button", { type: "button", onclick: () => byId("reset").click() }, "Show all rows"));
  };

  glcn.choose = async (row, { back = false, focus = false, reveal = false } = {}) => {
    if (!back && glcn.chosen !== undefined && glcn.chosen !== row) path.push(glcn.chosen);
    glcn.chosen = row;
    await glcn.sheetReady;
    show(row);
    await glcn.markChosen();
    if (focus) byId("row").focus({ preventScroll: true });
    if ((focus || reveal) && glcn.NARROW.matches) byId("row").scrollIntoView();
  };
})();
