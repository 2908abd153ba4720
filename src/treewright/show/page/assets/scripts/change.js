// What would have to change about a row for another answer: explain.counterfactual on the page's tree. Leaves come up
// cheapest first: the fewest columns, then the least distance, then the lowest number. A column that every test on the
// way sends along stays as it is; any other takes the nearest value that its tests allow together.
const change = (() => {
  const MAX_STEPS = 20000, MAX_WAYS = 1000;
  const OPEN = { lower: -Infinity, upper: Infinity, present: true, allowed: null };

  // Of what a test allows: see tree.conditions.Bound.
  function between(bound, lower, upper) {
    if (lower === Infinity) return { ...bound, present: false };
    return { ...bound, lower: Math.max(bound.lower, lower), upper: Math.min(bound.upper, upper) };
  }

  function among(bound, side) {
    const allowed = bound.allowed ? side.map((held, code) => held && bound.allowed[code]) : side;
    return { ...bound, allowed, present: bound.present && side.some(Boolean) };
  }

  function narrowed(bound, test, branch) {
    if (test.kind === "levels") return among(bound, test.branch_of.map((way) => way === branch));
    if (test.kind === "present") return branch === 0 ? bound : { ...bound, present: false };
    if (branch > test.cuts.length) return { ...bound, present: false };
    const lower = branch === 0 ? -Infinity : numbers.value(test.cuts[branch - 1]);
    return between(bound, lower, branch < test.cuts.length ? numbers.value(test.cuts[branch]) : Infinity);
  }

  // The codes of levels that meet a bound, ascending.
  function levelsOf(column, bound) {
    const codes = column.levels.map((_, code) => code).filter((code) => !bound.allowed || bound.allowed[code]);
    return column.kind === "ordinal" ? codes.filter((code) => code > bound.lower && code <= bound.upper) : codes;
  }

  function hasValues(column, bound) {
    if (!bound.present) return false;
    if (column.kind === "numeric") return bound.lower < bound.upper;
    if (column.kind === "nominal") return !bound.allowed || bound.allowed.some(Boolean);
    return levelsOf(column, bound).length > 0;
  }

  // The next float64 above a finite number.
  function above(number) {
    if (number === 0) return Number.MIN_VALUE;
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, number);
    view.setBigInt64(0, view.getBigInt64(0) + (number > 0 ? 1n : -1n));
    return view.getFloat64(0);
  }

  function nearest(column, bound, cell, preferred) {
    const missing = route.isMissing(cell);
    if (column.kind === "nominal") {
      if (preferred !== undefined && (!bound.allowed || bound.allowed[preferred])) return preferred;
      return levelsOf(column, bound)[0];
    }
    if (column.kind === "ordinal") {
      const ranks = levelsOf(column, bound);
      return missing ? ranks[0] : ranks.reduce((one, other) => Math.abs(other - cell) < Math.abs(one - cell) ? other : one);
    }
    if (missing ? bound.upper !== Infinity : cell > bound.upper) return bound.upper;
    return bound.lower === -Infinity ? 0 : above(bound.lower);
  }

  // How far a column moves into a bound; null where no value meets it, or where the column must stay.
  function distance(task, feature, bound) {
    const column = task.columns[feature], cell = task.cells[feature];
    if (task.keep.has(feature) || !hasValues(column, bound)) return null;
    if (column.kind === "nominal" || route.isMissing(cell)) return 1;
    const gone = Math.abs(nearest(column, bound, cell) - cell);
    return column.kind === "ordinal" ? gone : gone / task.scales[feature];
  }

  // A way is {held: Map(column -> {bound, kept}), distances: Map(column -> how far)}; the first asked stands first.
  const held = (way, feature, bound, kept) => new Map(way.held).set(feature, { bound, kept });

  // Sum in the order of the columns: the same float whatever the way.
  function total(distances) {
    let whole = 0;
    for (const feature of [...distances.keys()].sort((one, other) => one - other)) whole += distances.get(feature);
    return whole;
  }

  // The way with a bound of a column; `own`: the row's own cell meets what is new in it. Null where there is none.
  function taken(task, way, feature, bound, own) {
    const before = way.held.get(feature);
    if (own && (!before || before.kept)) return { held: held(way, feature, bound, true), distances: way.distances };
    const far = distance(task, feature, bound);
    if (far === null) return null;
    return { held: held(way, feature, bound, false), distances: new Map(way.distances).set(feature, far) };
  }

  const boundOf = (way, feature) => way.held.has(feature) ? way.held.get(feature).bound : OPEN;

  // The branch of the row's own cell; -1 where it would have to be filled in.
  function ownBranch(task, node) {
    const own = route.answer(node.test, task.cells[node.test.column]);
    if (own >= 0) return own;
    if (task.fill) return -1;
    if (task.tree.missing !== "fractional") return node.test.missing;
    const { branches, portions } = route.index(task.tree);
    return branches.get(node.id).findIndex((child) => portions.get(child.id) === 1);
  }

  function* byTest(task, way, node) {
    const feature = node.test.column, own = ownBranch(task, node), bound = boundOf(way, feature);
    for (const child of route.index(task.tree).branches.get(node.id)) {
      const made = taken(task, way, feature, narrowed(bound, node.test, child.branch), child.branch === own);
      if (made) yield [child, made];
    }
  }

  // Where the node's column is missing and surrogates stand in: it stays missing, or it is filled in, all the way.
  function* bySurrogates(task, way, node) {
    const feature = node.test.column, before = way.held.get(feature);
    for (const child of route.index(task.tree).branches.get(node.id)) {
      const bound = narrowed(boundOf(way, feature), node.test, child.branch);
      if (!before || before.kept) {
        const stays = { held: held(way, feature, bound, true), distances: way.distances };
        for (const made of answered(task, stays, node.test, child.branch)) yield [child, made];
      }
      const filled = !before || !before.kept ? taken(task, way, feature, bound, false) : null;
      if (filled) yield [child, filled];
    }
  }

  function* answered(task, way, test, branch) {
    let waiting = [way]; // no surrogate so far has answered
    for (const surrogate of test.surrogates) {
      const feature = surrogate.column, still = [];
      for (const each of waiting) {
        const before = each.held.get(feature);
        if (route.isMissing(task.cells[feature]) && (!before || before.kept)) {
          still.push(before ? each : { held: held(each, feature, OPEN, true), distances: each.distances });
          if (before) continue;
        }
        const told = says(task, each, surrogate, branch);
        if (told) yield told;
        const passed = surrogate.kind === "levels" ? says(task, each, surrogate, -1) : null;
        if (passed) still.push(passed);
      }
      waiting = still;
      if (waiting.length > MAX_WAYS) throw new RangeError("too many ways");
    }
    if (test.missing === branch) yield* waiting;
  }

  // The way on which a surrogate leads to a branch; to -1: a level that it does not know.
  function says(task, way, surrogate, branch) {
    const feature = surrogate.column, bound = boundOf(way, feature), cell = task.cells[feature];
    if (surrogate.kind === "levels") {
      const own = !route.isMissing(cell) && route.answer(surrogate, cell) === branch;
      return taken(task, way, feature, among(bound, surrogate.branch_of.map((to) => to === branch)), own);
    }
    const answer = surrogate.flipped ? 1 - branch : branch, cut = numbers.value(surrogate.cuts[0]);
    if (answer !== 0 && answer !== 1) return null;
    const ends = answer === 0 ? [-Infinity, cut] : [cut, Infinity];
    return taken(task, way, feature, between(bound, ...ends), route.answer(surrogate, cell) === answer);
  }

  // A heap: the least of [columns, distance, node, turn] comes first.
  function queue() {
    const items = [];
    const before = (one, other) => {
      for (let at = 0; at < 4; at++) if (one.key[at] !== other.key[at]) return one.key[at] < other.key[at];
      return false;
    };
    const swap = (one, other) => { [items[one], items[other]] = [items[other], items[one]]; };
    return {
      push(item) {
        let at = items.push(item) - 1;
        for (let up = (at - 1) >> 1; at > 0 && before(items[at], items[up]); at = up, up = (at - 1) >> 1) swap(at, up);
      },
      pop() {
        const first = items[0], last = items.pop();
        if (items.length) items[0] = last;
        for (let at = 0, least = 0; items.length; at = least) {
          for (const below of [2 * at + 1, 2 * at + 2]) {
            if (below < items.length && before(items[below], items[least])) least = below;
          }
          if (least === at) break;
          swap(at, least);
        }
        return first;
      },
      get size() { return items.length; },
    };
  }

  function* search(task) {
    const { byId } = route.index(task.tree), heap = queue();
    const hasChoices = task.tree.missing === "surrogate" && !task.fill && task.columns.some((_, at) => route.isMissing(task.cells[at]));
    let turn = 0, steps = 0;
    const add = (node, way) => heap.push({ key: [way.distances.size, total(way.distances), node.id, turn++], node, way });
    add(byId.get(0), { held: new Map(), distances: new Map() });
    while (heap.size) {
      const { key, node, way } = heap.pop();
      if (route.ends(node, task.isLeaf)) {
        // What stands below a node that is folded in this page nobody knows here.
        if (node.hidden === 0 || task.isLeaf(node)) yield { node, way, cost: key.slice(0, 2), exact: !task.fill };
        continue;
      }
      steps += 1;
      if (hasChoices && steps > MAX_STEPS) throw new RangeError("too many steps");
      const missing = hasChoices && route.isMissing(task.cells[node.test.column]);
      for (const [child, made] of missing ? bySurrogates(task, way, node) : byTest(task, way, node)) add(child, made);
    }
  }

  // For each question `wants(node)` the cheapest leaf that will do, as
  // {node, cost: [columns, distance], changes: [{column, before, after, bound, distance}], exact}; null where none does.
  function find(task, questions) {
    const open = new Set(questions.keys()), found = questions.map(() => null);
    const whole = { isLeaf: () => false, keep: new Set(), levels: () => undefined, fill: false, ...task };
    const look = (each) => {
      if (!open.size) return;
      for (const reached of search(each)) {
        for (const at of [...open]) {
          if (!questions[at](reached.node)) continue;
          open.delete(at);
          found[at] = { ...reached, changes: changesOf(each, reached) };
        }
        if (!open.size) return;
      }
    };
    try {
      look(whole);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      look({ ...whole, fill: true });
    }
    return found;
  }

  function changesOf(task, { node, way }) {
    const changes = [];
    for (const [column, { bound, kept }] of way.held) {
      if (kept) continue;
      const after = nearest(task.columns[column], bound, task.cells[column], task.levels(node, column));
      changes.push({ column, before: task.cells[column], after, bound, distance: way.distances.get(column) });
    }
    return changes;
  }

  return { find, levelsOf };
})();
