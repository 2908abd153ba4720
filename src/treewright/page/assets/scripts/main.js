// Start the sections that the page has.
document.documentElement.classList.add("scripted");
for (const section of [typeof tree === "undefined" ? null : tree]) if (section && section.start) section.start();
document.documentElement.dataset.ready = "yes";
