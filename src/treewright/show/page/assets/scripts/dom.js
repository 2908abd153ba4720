// Elements. Text goes in as text: no function here takes HTML.
const dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  // el("p", {class: "muted", onclick: f}, "text", node, [nodes]): attributes that are null or false are left out.
  function make(space, tag, attributes, children) {
    const element = space ? document.createElementNS(space, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (name === "style") for (const [rule, to] of Object.entries(value)) element.style.setProperty(rule, to);
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      element.append(child.nodeType ? child : document.createTextNode(String(child)));
    }
    return element;
  }

  return {
    el: (tag, attributes, ...children) => make(null, tag, attributes, children),
    svg: (tag, attributes, ...children) => make(SVG, tag, attributes, children),
    // A name that may go on in the next line after _ and before a capital, not in the middle of a word.
    breakable: (text) => text.split(/(?<=_)(?!_)|(?<=[a-z0-9])(?=[A-Z])/).flatMap((part, at) => at ? [document.createElement("wbr"), part] : [part]),
    byId: (id) => document.getElementById(id),
    // Replace everything in an element.
    fill: (host, ...children) => { host.replaceChildren(...children.flat(Infinity).filter(Boolean)); return host; },
  };
})();
