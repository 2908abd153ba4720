# rpart's table of complexities, cross-validated on given folds: Rscript rpart_xval.R ASKED.json TABLE.csv ANSWER.json
# ASKED: columns (names, levels; the target last), fits (method, control, fold: a fold number for each row).

suppressPackageStartupMessages({
  library(rpart)
  library(jsonlite)
})

arguments <- commandArgs(trailingOnly = TRUE)
asked <- fromJSON(arguments[1], simplifyVector = FALSE)

read_table <- function(path, columns) {
  made <- read.csv(path, na.strings = "", colClasses = "character", check.names = FALSE)
  for (i in seq_along(columns)) {
    levels <- unlist(columns[[i]]$levels)
    made[[i]] <- if (is.null(levels)) as.numeric(made[[i]]) else factor(made[[i]], levels = levels)
  }
  made
}

table <- read_table(arguments[2], asked$columns)
target <- names(table)[ncol(table)]

run_fit <- function(one) {
  control <- do.call(rpart.control, c(one$control, list(xval = as.integer(unlist(one$fold)))))
  given <- list(as.formula(paste(target, "~ .")), data = table, method = one$method, control = control)
  if (!is.null(one$weights)) {
    # rpart looks its weights up in the table.
    given$data$.weight <- as.numeric(unlist(one$weights))
    given[[1]] <- as.formula(paste(target, "~ . - .weight"))
    given$weights <- quote(.weight)
  }
  fit <- do.call(rpart, given)
  root <- fit$frame[1, ]
  list(
    root_risk = root$dev / root$wt, cp = fit$cptable[, "CP"], nsplit = fit$cptable[, "nsplit"],
    rel_error = fit$cptable[, "rel error"], xerror = fit$cptable[, "xerror"], xstd = fit$cptable[, "xstd"]
  )
}

answer <- list(
  version = paste0("rpart ", packageVersion("rpart"), ", ", R.version.string),
  fits = lapply(asked$fits, function(one) lapply(run_fit(one), unname))
)
write_json(answer, arguments[3], auto_unbox = TRUE, digits = I(15), na = "null", null = "null")
