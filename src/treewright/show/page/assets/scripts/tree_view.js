// A window on a drawing: zoom, move, fit. One transform moves everything; who draws is told where the window is.
const treeView = (() => {
  const LEAST = 0.003, MOST = 2.5, STEP = 1.25, READABLE = 0.65, EDGE = 14, PAN = 60, DRAG = 4;

  // frame: what is looked through; stage: what moves. moved() is called, at most once a frame, after every change.
  function make(frame, stage, moved) {
    const at = { x: 0, y: 0, k: 1 };
    let size = { width: 1, height: 1 }, asked = 0, touched = false, last = READABLE;
    const clamp = (k) => Math.min(MOST, Math.max(LEAST, k));

    function apply() {
      stage.style.setProperty("transform", `translate(${at.x.toFixed(2)}px, ${at.y.toFixed(2)}px) scale(${at.k.toFixed(5)})`);
      if (!asked) asked = requestAnimationFrame(() => { asked = 0; moved(); });
    }

    function set(x, y, k, byHand = false) {
      Object.assign(at, { x, y, k });
      touched = touched || byHand;
      apply();
    }

    function zoom(factor, px = frame.clientWidth / 2, py = frame.clientHeight / 2) {
      const k = clamp(at.k * factor);
      set(px - (px - at.x) * k / at.k, py - (py - at.y) * k / at.k, k, true);
    }

    const pan = (dx, dy) => set(at.x + dx, at.y + dy, at.k, true);
    const whole = () => Math.min((frame.clientWidth - 2 * EDGE) / size.width, (frame.clientHeight - 2 * EDGE) / size.height);

    const across = () => (frame.clientWidth - 2 * EDGE) / size.width;

    // At the upper edge of the frame: everything if it can be read, else what fits from left to right, but no smaller
    // than least, around the root. Where least is 0 everything, however small.
    function fit(rootX, least) {
      const k = clamp(Math.min(1, !least || whole() >= READABLE ? whole() : Math.max(least, across())));
      const fits = size.width * k <= frame.clientWidth - EDGE;
      set(frame.clientWidth / 2 - (fits ? size.width / 2 : rootX) * k, EDGE, k);
      touched = false;
      last = least;
    }

    // After the drawing changed: as the reader had it last.
    const again = (rootX) => fit(rootX, last);

    // Move as little as needed to have a box in the frame.
    function reveal(box) {
      if (at.k < 0.6) at.k = 1;
      const room = 26;
      const shift = (low, high, end) => low < room ? room - low : high > end - room ? Math.max(end - room - high, room - low) : 0;
      const left = box.x * at.k + at.x, top = box.y * at.k + at.y;
      const dx = shift(left, left + box.width * at.k, frame.clientWidth);
      const dy = shift(top, top + box.height * at.k, frame.clientHeight);
      if (dx || dy) set(at.x + dx, at.y + dy, at.k, true);
      else apply();
    }

    // The part of the drawing that is seen, and a rim around it.
    function seen(rim) {
      const x = -at.x / at.k - rim, y = -at.y / at.k - rim;
      return { left: x, top: y, right: x + frame.clientWidth / at.k + 2 * rim, bottom: y + frame.clientHeight / at.k + 2 * rim };
    }

    listen(frame, { zoom, pan });
    return {
      at, zoom, pan, fit, again, reveal, seen, set, refresh: apply, READABLE,
      // The drawing is up to date already.
      drawn() { cancelAnimationFrame(asked); asked = 0; },
      sized(width, height) { size = { width: Math.max(1, width), height: Math.max(1, height) }; },
      get touched() { return touched; },
      whole, across,
    };
  }

  // Wheel with ctrl, drags, two fingers, keys.
  function listen(frame, { zoom, pan }) {
    const fingers = new Map();
    let start = null, dragged = false;
    const spread = () => {
      const [a, b] = [...fingers.values()];
      return { size: Math.hypot(a.x - b.x, a.y - b.y) || 1, x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    };
    const inFrame = (event) => { const box = frame.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };

    frame.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const spot = inFrame(event);
      zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * 0.01), spot.x, spot.y);
    }, { passive: false });

    frame.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target.closest("button")) return;
      fingers.set(event.pointerId, inFrame(event));
      start = inFrame(event);
      dragged = false;
    });
    frame.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) return;
      const before = fingers.size === 2 ? spread() : null, last = fingers.get(event.pointerId), now = inFrame(event);
      // Only a move that is meant as one takes the pointer: a click must still reach the card.
      if (!dragged && Math.hypot(now.x - start.x, now.y - start.y) < DRAG) return;
      if (!dragged) frame.setPointerCapture(event.pointerId);
      dragged = true;
      frame.classList.add("is-dragged");
      fingers.set(event.pointerId, now);
      if (!before) { pan(now.x - last.x, now.y - last.y); return; }
      const after = spread();
      pan(after.x - before.x, after.y - before.y);
      zoom(after.size / before.size, after.x, after.y);
    });
    const end = (event) => {
      fingers.delete(event.pointerId);
      frame.classList.remove("is-dragged");
    };
    frame.addEventListener("pointerup", end);
    frame.addEventListener("pointercancel", end);
    frame.addEventListener("pointerleave", (event) => { if (!dragged) end(event); });
    // The click at the end of a drag is none.
    frame.addEventListener("click", (event) => { if (dragged) { event.stopPropagation(); dragged = false; } }, true);

    frame.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const arrows = { ArrowLeft: [PAN, 0], ArrowRight: [-PAN, 0], ArrowUp: [0, PAN], ArrowDown: [0, -PAN] };
      const moves = arrows[event.key];
      // Plain arrows belong to the tree while a card has the focus.
      if (moves && (event.target === frame || event.shiftKey)) pan(...moves);
      else if (event.key === "+" || event.key === "=") zoom(STEP);
      else if (event.key === "-") zoom(1 / STEP);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  return { make, STEP };
})();
