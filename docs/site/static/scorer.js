// How Sphinx ranks what a search finds. A page whose title has the words is what a reader looks for, the more so when it begins
// with them; guides come before the reference, and both before records. A name of the API that is typed whole comes first.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) => {
    const asked = (new URLSearchParams(location.search).get("q") || "").toLowerCase().trim();
    const words = asked.split(/\s+/).filter(Boolean);
    const stems = words.map(word => word.slice(0, Math.max(4, word.length - 2)));
    const page = title.split(" > ")[0].toLowerCase();
    if (docname.toLowerCase() === `reference/api/${asked}`) score += 200;
    if (stems.length && stems.every(stem => page.includes(stem))) {
      score += 60 - Math.min(30, page.indexOf(stems[0]));
      if (words.every(word => page.split(/\W+/).includes(word))) score += 5;
      if (docname.endsWith("/" + words.join("-")) || docname.includes("/" + words.join("-"))) score += 20;
    }
    if (anchor) score -= 3;
    if (/^(show-a-decision|ship-it|check-by-hand)\//.test(docname)) score += 12;
    if (docname.startsWith("reference/")) score -= 15;
    if (/^(decisions|project|numbers|gallery)\//.test(docname)) score -= 40;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
