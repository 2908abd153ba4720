# One rpart tree for every fit asked for: Rscript rpart.R ASKED.json TABLE.csv ANSWER.json
# ASKED: columns (names, kinds, levels; the target last), fits (options, and columns to blank before predicting).

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

name_of <- function(safe) {
  asked$columns[[as.integer(sub("V", "", safe, fixed = TRUE))]]$name
}

describe_split <- function(fit, row) {
  one <- fit$splits[row, ]
  ncat <- one[["ncat"]]
  made <- list(
    column = name_of(rownames(fit$splits)[row]), count = one[["count"]], ncat = ncat,
    improve = one[["improve"]], adj = one[["adj"]]
  )
  if (abs(ncat) >= 2) {
    made$sides <- paste(c("L", "-", "R")[fit$csplit[one[["index"]], seq_len(ncat)]], collapse = "")
  } else {
    made$index <- one[["index"]]
  }
  made
}

describe_node <- function(fit, i, starts) {
  frame <- fit$frame[i, ]
  made <- list(
    node = as.integer(rownames(fit$frame)[i]), n = frame$n, wt = frame$wt, dev = frame$dev, complexity = frame$complexity
  )
  if (fit$method == "class") {
    classes <- attr(fit, "ylevels")
    made$counts <- unname(frame$yval2[1, 2:(1 + length(classes))])
    made$yval <- classes[frame$yval]
  } else {
    made$yval <- frame$yval
  }
  if (frame$var == "<leaf>") return(made)
  at <- starts[i]
  made$primary <- describe_split(fit, at)
  made$competing <- lapply(at + seq_len(frame$ncompete), function(row) describe_split(fit, row))
  made$surrogates <- lapply(at + frame$ncompete + seq_len(frame$nsurrogate), function(row) describe_split(fit, row))
  made
}

classes_of <- function(fit, rows) {
  paste(c(0:9, letters)[as.integer(predict(fit, rows, type = "class"))], collapse = "")
}

leaves_of <- function(fit, rows) {
  # The leaf a row falls into: predicting with the row numbers of the frame in place of its values.
  probe <- fit
  probe$method <- "anova"
  probe$frame$yval <- as.integer(rownames(fit$frame))
  probe$frame$yval2 <- NULL
  paste(unname(predict(probe, rows, type = "vector")), collapse = " ")
}

path_of <- function(fit) {
  # cptable with all the digits that JSON gets, and the risk of every node of the tree that it is about.
  list(
    cptable = lapply(seq_len(nrow(fit$cptable)), function(i) unname(as.list(fit$cptable[i, 1:3]))),
    nodes = paste(rownames(fit$frame), collapse = " "),
    dev = fit$frame$dev
  )
}

run_fit <- function(one) {
  table <- read_table(arguments[2], asked$columns)
  if (isTRUE(one$complete)) table <- table[complete.cases(table), ]
  target <- names(table)[ncol(table)]
  control <- do.call(rpart.control, c(one$control, list(xval = 0)))
  given <- list(as.formula(paste(target, "~ .")), data = table, method = one$method, control = control)
  if (!is.null(one$split)) given$parms <- list(split = one$split)
  fit <- do.call(rpart, given)
  if (isTRUE(one$path)) return(path_of(fit))
  kept <- setdiff(seq_len(nrow(table)), as.integer(fit$na.action))
  starts <- cumsum(c(1, fit$frame$ncompete + fit$frame$nsurrogate + (fit$frame$var != "<leaf>")))
  made <- list(
    dropped_rows = as.list(setdiff(seq_len(nrow(table)), kept) - 1L),
    nodes = lapply(seq_len(nrow(fit$frame)), function(i) describe_node(fit, i, starts)),
    where = paste(as.integer(rownames(fit$frame))[fit$where], collapse = " ")
  )
  if (fit$method == "class") made$predicted <- classes_of(fit, table)
  made$leaf <- leaves_of(fit, table)
  made$importance <- as.list(setNames(
    as.numeric(fit$variable.importance), vapply(names(fit$variable.importance), name_of, "")
  ))
  primary <- fit$splits[1, , drop = FALSE]
  made$blanked <- lapply(one$blank, function(rule) {
    blanked <- table
    wanted <- if (rule == "root") rownames(primary) else rule
    if (rule == "root and first surrogate") {
      wanted <- c(rownames(primary), rownames(fit$splits)[2 + fit$frame$ncompete[1]])
    }
    if (rule == "all") wanted <- setdiff(names(table), target)
    for (column in wanted) blanked[[column]][] <- NA
    list(columns = lapply(wanted, name_of), leaf = leaves_of(fit, blanked))
  })
  made
}

answer <- list(
  version = paste0("rpart ", packageVersion("rpart"), ", ", R.version.string),
  fits = lapply(asked$fits, run_fit)
)
write_json(answer, arguments[3], auto_unbox = TRUE, digits = I(12), na = "null", null = "null")
