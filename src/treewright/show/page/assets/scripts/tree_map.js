// The whole tree, tiny, beside the window: where one is, and a way to get elsewhere. For the pointer only: with the
// keyboard one goes from card to card.
const treeMap = (() => {
  const HEIGHT = 88, RIM = 5, STRETCH = 6;

  function make(host, frame, view) {
    const canvas = dom.el("canvas", { class: "tree-map", "aria-hidden": "true", title: "Overview of open nodes: click to move there", hidden: true });
    const pen = canvas.getContext("2d");
    let kx = 1, ky = 1;
    host.append(canvas);

    // boxes: [{x, y, width, height, color}], the size of the drawing.
    function draw(boxes, size) {
      canvas.hidden = view.whole() >= Math.min(1, view.at.k) - 1e-9;
      if (canvas.hidden) return;
      const sharp = devicePixelRatio || 1;
      const room = host.clientWidth - 2 * RIM - 2;
      kx = Math.min(room / size.width, STRETCH * HEIGHT / size.height);
      // Trees are wide: drawn to scale, nothing could be told apart.
      ky = Math.min(HEIGHT / size.height, STRETCH * kx);
      const wide = Math.max(24, size.width * kx) + 2 * RIM, tall = Math.max(24, size.height * ky) + 2 * RIM;
      canvas.width = Math.round(wide * sharp);
      canvas.height = Math.round(tall * sharp);
      canvas.style.setProperty("width", `${wide}px`);
      canvas.style.setProperty("height", `${tall}px`);
      pen.setTransform(sharp, 0, 0, sharp, RIM * sharp, RIM * sharp);
      for (const box of boxes) {
        pen.fillStyle = box.color;
        pen.fillRect(box.x * kx, box.y * ky, Math.max(1.2, box.width * kx), Math.max(1.2, box.height * ky));
      }
      drawFrame(view.seen(0), wide - RIM - 1, tall - RIM - 1);
    }

    // What the window shows, held within the map: an edge outside of it could not be seen.
    function drawFrame(seen, right, bottom) {
      const within = (held, most) => Math.min(most, Math.max(1 - RIM, held));
      const x = within(seen.left * kx, right - 6), y = within(seen.top * ky, bottom - 6);
      const wide = Math.max(6, within(seen.right * kx, right) - x), tall = Math.max(6, within(seen.bottom * ky, bottom) - y);
      pen.strokeStyle = pen.fillStyle = getComputedStyle(canvas).getPropertyValue("--accent");
      pen.globalAlpha = 0.14;
      pen.fillRect(x, y, wide, tall);
      pen.globalAlpha = 1;
      pen.lineWidth = 2;
      pen.strokeRect(x, y, wide, tall);
    }

    function go(event) {
      const at = canvas.getBoundingClientRect();
      const x = (event.clientX - at.left - RIM) / kx, y = (event.clientY - at.top - RIM) / ky;
      view.set(frame.clientWidth / 2 - x * view.at.k, frame.clientHeight / 2 - y * view.at.k, view.at.k, true);
    }
    canvas.addEventListener("pointerdown", (event) => { event.stopPropagation(); canvas.setPointerCapture(event.pointerId); go(event); });
    canvas.addEventListener("pointermove", (event) => { if (canvas.hasPointerCapture(event.pointerId)) go(event); });
    return { draw };
  }

  return { make };
})();
