// Where the cards of a tree go. As treewright.plot.layout (Reingold & Tilford, Tidier drawings of trees, 1981): subtrees
// are drawn alone, then pushed together until their outlines touch. Loops only: a chain of 20,000 cards is a tree too.
const layout = (() => {
  // One side of a subtree: x per depth, the deepest first, each read as base + value. So a parent is appended, and
  // moving the whole outline changes one number.
  const outline = (x) => ({ values: [x], base: 0 });
  const at = (side, below) => side.base + side.values[side.values.length - 1 - below];

  function overwriteTop(side, other, levels) {
    for (let below = 0; below < levels; below++) side.values[side.values.length - 1 - below] = at(other, below) - side.base;
  }

  function joined(left, right, nextLeft, nextRight, shared) {
    if (nextLeft.values.length > shared) {
      overwriteTop(nextLeft, left, shared);
      return [nextLeft, nextRight];
    }
    if (right.values.length > shared) {
      overwriteTop(right, nextRight, shared);
      return [left, right];
    }
    return [left, nextRight];
  }

  // x of each box relative to its parent, siblings packed from the left, or from the right where mirrored.
  function pushedApart(children, widths, gap, mirrored) {
    const relative = new Float64Array(children.length);
    const sides = new Array(children.length);
    for (let box = children.length - 1; box >= 0; box--) {
      const half = widths[box] / 2;
      if (!children[box].length) {
        sides[box] = [outline(-half), outline(half)];
        continue;
      }
      const order = mirrored ? [...children[box]].reverse() : children[box];
      const places = [0];
      let [left, right] = sides[order[0]];
      for (const child of order.slice(1)) {
        const [nextLeft, nextRight] = sides[child];
        const shared = Math.min(right.values.length, nextLeft.values.length);
        let shift = -Infinity;
        for (let level = 0; level < shared; level++) shift = Math.max(shift, at(right, level) - at(nextLeft, level));
        shift += gap;
        places.push(shift);
        nextLeft.base += shift;
        nextRight.base += shift;
        [left, right] = joined(left, right, nextLeft, nextRight, shared);
      }
      const middle = (places[0] + places[places.length - 1]) / 2;
      order.forEach((child, place) => {
        relative[child] = (mirrored ? -1 : 1) * (places[place] - middle);
        sides[child] = null;
      });
      for (const side of [left, right]) side.base -= middle;
      left.values.push(-half - left.base);
      right.values.push(half - right.base);
      sides[box] = [left, right];
    }
    return relative;
  }

  // children: per box the boxes under it, left to right; box 0 is the root, parents stand before children.
  // Returns the x of the middle of every box, the leftmost edge at 0. Packing from one side only would push small
  // subtrees to it; the mean of both is symmetric, and no demand on the drawing is lost, as all are linear.
  function tidy(children, widths, gap) {
    const fromLeft = pushedApart(children, widths, gap, false);
    const fromRight = pushedApart(children, widths, gap, true);
    const places = new Float64Array(children.length);
    let edge = Infinity;
    for (let box = 0; box < children.length; box++) {
      edge = Math.min(edge, places[box] - widths[box] / 2);
      for (const child of children[box]) places[child] = places[box] + (fromLeft[child] + fromRight[child]) / 2;
    }
    return places.map((place) => place - edge);
  }

  return { tidy };
})();
