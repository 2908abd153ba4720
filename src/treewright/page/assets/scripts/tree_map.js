// The whole tree, tiny, in a corner of the window: where one is, and a way to get elsewhere. For the pointer only: with
// the keyboard one goes from card to card.
const treeMap = (() => {
  const WIDTH = 170, HEIGHT = 96, RIM = 5, STRETCH = 4;

  function make(frame, view) {
    const canvas = dom.el("canvas", { class: "tree-map", "aria-hidden": "true", hidden: true });
    const pen = canvas.getContext("2d");
    let kx = 1, ky = 1;
    frame.append(canvas);

    // boxes: [{x, y, width, height, color}], the size of the drawing.
    function draw(boxes, size) {
      canvas.hidden = view.whole() >= Math.min(1, view.at.k) - 1e-9;
      if (canvas.hidden) return;
      const sharp = devicePixelRatio || 1;
      const small = frame.clientWidth < 480 ? 0.6 : 1;
      kx = small * Math.min(WIDTH / size.width, HEIGHT / size.height);
      // Trees are wide: drawn to scale, nothing could be told apart.
      ky = Math.min(small * HEIGHT / size.height, STRETCH * kx);
      const wide = Math.max(24, size.width * kx) + 2 * RIM, tall = Math.max(16, size.height * ky) + 2 * RIM;
      canvas.width = Math.round(wide * sharp);
      canvas.height = Math.round(tall * sharp);
      canvas.style.setProperty("width", `${wide}px`);
      canvas.style.setProperty("height", `${tall}px`);
      pen.setTransform(sharp, 0, 0, sharp, RIM * sharp, RIM * sharp);
      for (const box of boxes) {
        pen.fillStyle = box.color;
        pen.fillRect(box.x * kx, box.y * ky, Math.max(1.2, box.width * kx), Math.max(1.2, box.height * ky));
      }
      const seen = view.seen(0);
      pen.strokeStyle = getComputedStyle(canvas).getPropertyValue("--accent");
      pen.lineWidth = 1.5;
      pen.strokeRect(seen.left * kx, seen.top * ky, (seen.right - seen.left) * kx, (seen.bottom - seen.top) * ky);
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
