# Root statistics of conditional inference trees, and an rpart tree as a party: Rscript partykit.R ASKED.json TABLE.csv ANSWER.json

suppressPackageStartupMessages({
  library(partykit)
  library(rpart)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
asked <- fromJSON(arguments[1], simplifyVector = FALSE)
table <- read.csv(arguments[2], na.strings = "", colClasses = "character")
for (i in seq_along(asked$columns)) {
  levels <- unlist(asked$columns[[i]]$levels)
  table[[i]] <- if (is.null(levels)) as.numeric(table[[i]]) else factor(table[[i]], levels = levels)
}
names(table) <- vapply(asked$columns, function(column) column$name, "")
target <- names(table)[ncol(table)]
form <- as.formula(paste0("`", target, "` ~ ."))

chosen_of <- function(criterion) {
  colnames(criterion)[which.max(criterion["criterion", ])]
}

root_of <- function(teststat, testtype) {
  # The maximum test integrates by random numbers.
  set.seed(1)
  control <- ctree_control(teststat = teststat, testtype = testtype, stump = TRUE)
  criterion <- info_node(node_party(ctree(form, data = table, control = control)))$criterion
  list(
    teststat = teststat, testtype = testtype, statistic = as.list(criterion["statistic", ]),
    p = as.list(criterion["p.value", ]), chosen = chosen_of(criterion)
  )
}

set.seed(1)
whole <- ctree(form, data = table)
answer <- list(
  version = paste0("partykit ", packageVersion("partykit"), ", ", R.version.string),
  roots = list(
    root_of("quadratic", "Bonferroni"), root_of("quadratic", "Univariate"), root_of("maximum", "Bonferroni")
  ),
  ctree = list(
    nodes = length(whole), leaves = width(whole), printed = paste(capture.output(print(whole)), collapse = "\n")
  )
)
if (isTRUE(asked$as_party)) {
  fit <- rpart(form, data = table, control = rpart.control(xval = 0))
  party <- as.party(fit)
  answer$as_party <- list(
    printed = paste(capture.output(print(party)), collapse = "\n"),
    fitted = paste(fitted(party)[["(fitted)"]], collapse = " ")
  )
}
write_json(answer, arguments[3], auto_unbox = TRUE, digits = I(12), na = "null", null = "null")
