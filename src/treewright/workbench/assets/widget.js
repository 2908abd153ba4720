// How the page of the server reaches its session; a page that was opened without a token is told so.
export function link(window) {
  const token = new URL(window.location.href).searchParams.get("token") || "";
  const query = `token=${encodeURIComponent(token)}`;
  return {
    first: null, quits: true,
    async ask(request) {
      const headers = { "Content-Type": "application/json", "X-Treewright-Token": token };
      const response = await window.fetch("ask", { method: "POST", headers, body: JSON.stringify(request) });
      if (!(response.headers.get("content-type") || "").startsWith("application/json")) throw new Error(await response.text());
      return response.json();
    },
    listen(hear) {
      const source = new window.EventSource(`events?${query}`);
      let lost = false;
      source.addEventListener("message", (event) => {
        const message = JSON.parse(event.data);
        if (message.bye) source.close();
        hear(message);
      });
      source.addEventListener("error", () => { lost = true; hear({ lost: true }); });
      source.addEventListener("open", () => { if (lost) hear({ found: true }); lost = false; });
    },
    file: (kind) => `files/${kind}?${query}`,
  };
}

// What anywidget calls: the screen in a frame of its own. Without a kernel it shows the state that the notebook holds.
const NO_KERNEL = 4000;
function render({ model, el }) {
  const frame = el.ownerDocument.createElement("iframe");
  frame.title = "Treewright workbench";
  frame.style.cssText = "width:100%;border:0;display:block";
  frame.style.height = `${model.get("height") || 760}px`;
  const waiting = new Map(), listeners = [];
  let last = 0;
  const hear = (message) => {
    if (message.id === undefined) listeners.forEach((listener) => listener(message));
    else if (waiting.has(message.id)) {
      // What a notebook that keeps widgets will show without a kernel.
      if (message.answer.state) model.set("state", message.answer.state);
      waiting.get(message.id)(message.answer);
      waiting.delete(message.id);
    }
  };
  model.on("msg:custom", hear);
  const ask = (request) => new Promise((answered, failed) => {
    const id = `${Date.now()}-${++last}`;
    waiting.set(id, answered);
    if (request.ask === "state") setTimeout(() => { if (waiting.delete(id)) failed(new Error("No kernel answers: this is the last state. Run the cell to go on.")); }, NO_KERNEL);
    try { model.send({ id, request }); } catch { waiting.delete(id); failed(new Error("No kernel answers: this is the last state. Run the cell to go on.")); }
  });
  // A cell that is moved loads its frame anew.
  frame.addEventListener("load", () => {
    listeners.length = 0;
    const kept = model.get("state");
    open(frame.contentWindow, { first: kept && kept.tree ? kept : null, quits: false, file: null, ask, listen: (listener) => listeners.push(listener) });
  });
  frame.srcdoc = "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Treewright workbench</title></head><body></body></html>";
  // The still beside it is for those who open the notebook without a kernel.
  const hides = el.ownerDocument.createElement("style");
  hides.textContent = ".treewright-still { display: none; }";
  el.ownerDocument.head.append(hides);
  el.append(frame);
  return () => { model.off("msg:custom", hear); hides.remove(); };
}
export default { render };
