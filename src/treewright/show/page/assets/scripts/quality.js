// The pictures of the section Quality; its tables stand in the page already. One sentence tells how to read each picture.
const quality = (() => {
  const SHARES = { x: [0, 1], y: [0, 1] };
  const hint = (...words) => dom.el("p", { class: "quality-hint muted small" }, ...words);
  const cell = (grid) => { const held = dom.el("div", {}); grid.append(held); return held; };
  const color = (position) => `var(--class-${position % 24})`;
  // Two shapes that name no output where there is only one.
  const titled = (part, title) => part.output && state.summary.quality.length > 1 ? `${title} (${part.output})` : title;

  function picture(grid, words, draw) {
    const held = cell(grid);
    draw(held);
    held.append(hint(words));
  }

  function confusion(host, part) {
    dom.fill(host);
    picture(host, "Each row is a true class, each column a predicted class. The diagonal holds the correct predictions; the darker a cell, the larger its share of the row.", (held) =>
      chart.matrix(held, { title: titled(part, part.weighted ? "Confusion matrix, by weight" : "Confusion matrix"), labels: part.confusion.labels, counts: part.confusion.counts }));
  }

  // Where the model's own threshold lies on a curve: at a place of the axis across.
  const marks = (rank, place) => !rank?.decides ? [] : [{ x: place(...rank.decides), label: `threshold ${numbers.short(rank.decides[0])}` }];
  const taken = (rank, found, wrongly) => rank.share * found + (1 - rank.share) * wrongly;

  function roc(grid, part, rank) {
    picture(grid, `Up: the true positive rate, the share of "${rank.name}" that is found; across: the false positive rate, the share of the others that is predicted as it. The nearer the upper left corner the better; the dashed line is guessing.`, (held) =>
      chart.lines(held, { title: titled(part, `ROC curve of "${rank.name}": area ${rank.area.toFixed(3)}`), x: rank.false_rate,
        series: [{ name: rank.name, y: rank.true_rate, color: color(rank.position), dots: rank.false_rate.length <= 40 }],
        xlabel: "false positive rate", ylabel: "true positive rate (recall)", diagonal: true, domain: SHARES, marks: marks(rank, (_, wrongly) => wrongly) }));
  }

  // Between two points the precision is that of the point to the right: a corner stands before each point.
  function corners(recall, precision) {
    const x = [], y = [];
    recall.forEach((value, at) => {
      if (at > 0 && value !== recall[at - 1]) { x.push(recall[at - 1]); y.push(precision[at]); }
      x.push(value); y.push(precision[at]);
    });
    return { x, y };
  }

  function precision(grid, part, rank) {
    const { x, y } = corners(rank.recall, rank.precision);
    picture(grid, `Across: the recall, the share of "${rank.name}" that is found; up: the precision, the share of rows predicted as it that are of it. The higher the better; the dashed line is guessing.`, (held) =>
      chart.lines(held, { title: titled(part, `Precision and recall of "${rank.name}": average ${rank.average_precision.toFixed(3)}`), x,
        series: [{ name: rank.name, y, color: color(rank.position) },
          { name: "guessing", y: x.map(() => rank.share), color: "var(--muted)", dash: "4 4", width: 1.5 }],
        xlabel: "recall", ylabel: "precision", domain: SHARES, marks: marks(rank, (_, wrongly, found) => found) }));
  }

  // Rows are taken by descending probability: at a point of the ROC curve this share of all of them.
  function gains(grid, part, rank) {
    const x = rank.true_rate.map((found, at) => taken(rank, found, rank.false_rate[at]));
    picture(grid, `Rows are taken by their predicted probability of "${rank.name}", the highest first. Across: the share of all rows that is taken; up: the share of "${rank.name}" that is found among them. The higher the better; the dashed line is guessing.`, (held) =>
      chart.lines(held, { title: titled(part, `Cumulative gains of "${rank.name}"`), x,
        series: [{ name: rank.name, y: rank.true_rate, color: color(rank.position), dots: x.length <= 40 }],
        xlabel: "share of the rows taken", ylabel: "share of the class found", diagonal: true, domain: SHARES, marks: marks(rank, (_, wrongly, found) => taken(rank, found, wrongly)) }));
    lift(grid, part, rank, x);
  }

  // Between two points gains are a straight line, and lift is none. Among the first few rows it jumps: a hundredth is the least.
  function lift(grid, part, rank, places) {
    const x = [...new Set([...places.filter((value) => value > 0.01), ...Array.from({ length: 100 }, (_, at) => (at + 1) / 100)])].sort((one, other) => one - other);
    let right = 1;
    const y = x.map((value) => {
      while (right < places.length - 1 && places[right] < value) right += 1;
      const step = places[right] - places[right - 1], part = step > 0 ? Math.min((value - places[right - 1]) / step, 1) : 1;
      return (rank.true_rate[right - 1] + part * (rank.true_rate[right] - rank.true_rate[right - 1])) / value;
    });
    picture(grid, `The number of rows of "${rank.name}" found among those taken, relative to guessing (the dashed line).`, (held) =>
      chart.lines(held, { title: titled(part, `Lift of "${rank.name}"`), x,
        series: [{ name: rank.name, y, color: color(rank.position) },
          { name: "guessing", y: x.map(() => 1), color: "var(--muted)", dash: "4 4", width: 1.5 }],
        xlabel: "share of the rows taken", ylabel: "lift", domain: { x: [0, 1], y: [0, Math.max(...y) * 1.05] }, marks: marks(rank, (_, wrongly, found) => taken(rank, found, wrongly)) }));
  }

  function calibration(grid, part, held, rank) {
    const full = held.predicted.flatMap((value, at) => value === null ? [] : [at]), take = (values) => full.map((at) => values[at]);
    picture(grid, `Rows are grouped by the predicted probability of "${held.name}" (across); up is the share of the class among them. On the dashed line the two are equal. Vertical lines are 95 % intervals; the error is the mean distance from the dashed line.`, (host) =>
      chart.lines(host, { title: titled(part, `Calibration of "${held.name}": error ${held.error.toFixed(3)}`), x: take(held.predicted),
        series: [{ name: held.name, y: take(held.happened), low: take(held.low), high: take(held.high), color: color(held.position), dots: true, whiskers: true }],
        xlabel: "predicted probability", ylabel: "observed share", diagonal: true, domain: SHARES, marks: marks(rank, (at) => at) }));
    picture(grid, "Rows behind each point of the calibration: few rows, long intervals.", (host) =>
      chart.stacked(host, { title: titled(part, `Predicted probabilities of "${held.name}"`), labels: held.weight.map((_, at) => `${numbers.short(held.edges[at], 2)} to ${numbers.short(held.edges[at + 1], 2)}`),
        parts: [{ name: part.weighted ? "weight" : "rows", values: held.weight, color: color(held.position) }], ylabel: part.weighted ? "weight" : "rows", xlabel: "predicted probability", edges: held.edges, marks: marks(rank, (at) => at) }));
  }

  // The curves of one class at a time: of many they would hide each other.
  function ofClasses(host, part) {
    const places = [...new Set([...part.ranks, ...part.calibration].map((held) => held.position))].sort((one, other) => one - other);
    if (!places.length) return;
    const grid = dom.el("div", { class: "quality-pairs" });
    const show = (place) => {
      dom.fill(grid);
      const rank = part.ranks.find((held) => held.position === place), held = part.calibration.find((each) => each.position === place);
      if (rank) { roc(grid, part, rank); precision(grid, part, rank); gains(grid, part, rank); }
      if (held) calibration(grid, part, held, rank);
    };
    const name = (place) => [...part.ranks, ...part.calibration].find((held) => held.position === place).name;
    if (places.length > 1) {
      const choose = dom.el("select", { onchange: (event) => show(Number(event.target.value)) },
        places.map((place) => dom.el("option", { value: place }, name(place).slice(0, 60))));
      host.append(dom.el("p", { class: "quality-choose" }, dom.el("label", {}, "Curves of the class ", choose, " against all others")));
    }
    host.append(grid);
    show(places[0]);
  }

  function ofNumbers(host, part) {
    const { truth, predicted, residual, n_rows, edges, weight } = part.residuals;
    const grid = dom.el("div", { class: "grid" });
    const drawn = predicted.length < n_rows ? ` ${numbers.short(predicted.length)} of ${numbers.short(n_rows)} rows are drawn.` : "";
    host.append(grid);
    picture(grid, `Every point is a row; on the dashed line the prediction is the truth.${drawn}`, (held) =>
      chart.points(held, { title: titled(part, "Predicted and true numbers"), x: predicted, y: truth, xlabel: "predicted", ylabel: "true", diagonal: true }));
    picture(grid, `A residual is the true number minus the predicted one. Points should scatter around 0 in the same way everywhere: a bend or a fan is a pattern that the model missed.${drawn}`, (held) =>
      chart.points(held, { title: titled(part, "Residuals over predictions"), x: predicted, y: residual, xlabel: "predicted", ylabel: "true - predicted", zero: true }));
    picture(grid, "How often residuals of each size occur in all test rows. A hill around 0 is good; a long tail means a few large errors.", (held) =>
      chart.stacked(held, { title: titled(part, "Residuals"), labels: weight.map((_, at) => `${numbers.short(edges[at])} to ${numbers.short(edges[at + 1])}`),
        parts: [{ name: part.weighted ? "weight" : "rows", values: weight, color: "var(--accent)" }], ylabel: part.weighted ? "weight" : "rows", xlabel: "true - predicted", edges }));
  }

  const TITLES = { learning: "Learning curve: would more rows help?", depth: "Depth curve: how large should trees be?" };
  const HINTS = {
    learning: "Copies of the model are fitted on ever more of these rows and tested on others. If the error on test rows still falls at the right, more rows would help.",
    depth: "Copies of the model are fitted with ever larger trees. If the error on test rows rises while that on training rows falls, the trees overfit.",
  };

  function ofErrors(host, part) {
    if (!part.curves.length) return;
    const grid = dom.el("div", { class: "grid" });
    host.append(grid);
    for (const curve of part.curves) {
      const around = (mean, error, sign) => mean.map((value, at) => error[at] === null ? null : numbers.value(value) + sign * numbers.value(error[at]));
      const series = (name, mean, error, rest) => ({ name, y: mean, low: around(mean, error, -1), high: around(mean, error, 1), dots: true, ...rest });
      picture(grid, `${HINTS[curve.name]} ${numbers.counted(curve.n_folds, "fold")} of ${numbers.short(curve.n_rows)} rows; the bands are one standard error. ${curve.note}`, (held) =>
        chart.lines(held, { title: TITLES[curve.name], x: curve.x, xlabel: curve.over, ylabel: curve.loss, series: [
          series("training rows", curve.train, curve.train_se, { color: "var(--muted)", dash: "6 3" }),
          series("test rows", curve.test, curve.test_se, { color: "var(--accent)", dash: "" })] }));
    }
  }

  function start() {
    state.summary.quality.forEach((part, at) => {
      const place = document.querySelector(`.quality-output[data-output="${at}"]`), host = place.querySelector(".quality-host");
      for (const swatch of place.querySelectorAll(".swatch[data-color]")) swatch.style.setProperty("background", `var(--class-${swatch.dataset.color})`);
      if (part.confusion) confusion(place.querySelector(".quality-confusion"), part);
      ofClasses(host, part);
      if (part.residuals) ofNumbers(host, part);
      ofErrors(host, part);
    });
  }

  return { start };
})();
