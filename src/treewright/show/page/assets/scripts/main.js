// Start the sections that the page has.
document.documentElement.classList.add("scripted");
for (const text of document.querySelectorAll("#text > details")) text.open = false;
if (dom.byId("tree")) tree.start();
if (dom.byId("pruning")) pruning.start();
if (dom.byId("follow")) follow.start();
if (dom.byId("quality")) quality.start();
if (dom.byId("data")) data.start();
if (dom.byId("contributions")) contributions.start();
if (dom.byId("ensemble")) ensemble.start();
document.documentElement.dataset.ready = "yes";
