// How Sphinx ranks what a search finds: a page whose title holds the words is what a reader looks for; records and
// the lists of names come after the guides.
var Scorer = {
  score: ([docname, title, anchor, descr, score, filename]) => {
    if (docname.startsWith("decisions/") || docname.startsWith("project/")) return score - 12;
    if (docname.startsWith("reference/api/")) return score - 6;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 20,
  partialTitle: 10,
  term: 5,
  partialTerm: 2,
};
