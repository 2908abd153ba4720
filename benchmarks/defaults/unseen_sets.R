# The data sets of the R package mlbench, as `boosting.py --data` reads them: NAME.json beside NAME.csv.gz.
#
#     Rscript benchmarks/defaults/unseen_sets.R FOLDER
#
# None of them chose a constant of ours. Those that the other folder has too (breast cancer, soybean, letters) and those
# of the house votes are left out.
library(mlbench)
library(jsonlite)

folder <- commandArgs(trailingOnly = TRUE)[1]
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
targets <- c(
  BostonHousing = "medv", DNA = "Class", Glass = "Type", Ionosphere = "Class", Ozone = "V4",
  PimaIndiansDiabetes2 = "diabetes", Satellite = "classes", Servo = "Class", Shuttle = "Class", Sonar = "Class",
  Vehicle = "Class", Vowel = "Class", Zoo = "type"
)
for (name in names(targets)) {
  data(list = name)
  table <- get(name)
  target <- targets[[name]]
  table <- table[!is.na(table[[target]]), ]
  is_number <- is.numeric(table[[target]])
  nominal <- setdiff(names(table)[!vapply(table, is.numeric, TRUE)], target)
  file <- paste0(tolower(name), ".csv.gz")
  write.csv(table, gzfile(file.path(folder, file)), row.names = FALSE, na = "")
  facts <- list(
    name = tolower(name), file = file, task = if (is_number) "regression" else "multiclass", target = target,
    rows = nrow(table), nominal = I(nominal)
  )
  if (!is_number) facts$classes <- as.list(table(table[[target]]))
  write_json(facts, file.path(folder, paste0(tolower(name), ".json")), auto_unbox = TRUE)
}
