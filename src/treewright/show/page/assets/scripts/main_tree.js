// The page that holds nothing but a tree.
document.documentElement.classList.add("scripted");
tree.start();
document.documentElement.dataset.ready = "yes";
