# Writes r.json: what R says about the inputs of scipy.json and some of its own.
# Debian packages: r-base-core r-cran-clubsandwich r-cran-jsonlite.
# Run here, after make_scipy.py: Rscript make_r.R
suppressMessages({library(clubSandwich); library(jsonlite)})
cases <- list()
case <- function(func, want, ...) {
  cases[[length(cases) + 1]] <<- list(func = func, `in` = list(...), want = as.list(unname(want)))
}
src <- fromJSON("scipy.json", simplifyDataFrame = FALSE)$cases

# t intervals.
for (x in src) if (x$func == "cr0") {
  r <- t.test(x$`in`$values)
  case("t-interval", r$conf.int[1:2], groups = x$`in`$groups, values = x$`in`$values, level = 0.95)
}

for (df in c(0.4, 1, 2.5, 8.3, 40, 100.5, 1e4, 10001, 1e8)) for (p in c(0.9, 0.975, 0.9999))
  case("t-quantile", qt(p, df), p = p, df = df)

for (df in c(0.4, 8.3, 1e4, 1e6)) for (t in c(0.3, 2, 6))
  case("t-tail", 2 * pt(-t, df), x = t, df = df)

# CR2 and Bell-McCaffrey degrees of freedom (rho 0).
for (x in src) if (x$func == "cr0" && max(x$`in`$values) < 100) {
  g <- x$`in`$groups; v <- x$`in`$values
  fit <- lm(v ~ 1)
  r <- coef_test(fit, vcov = vcovCR(fit, cluster = g, type = "CR2"), test = "Satterthwaite")
  case("df", c(r$df, r$SE), groups = g, values = v, rho = 0)
}

set.seed(5)
invisible(rnorm(8 + 25 + 60)) # of cases that are gone: those below keep their numbers

for (p in list(c(0.01, 0.02, 0.02, 0.9), runif(12) / 20))
  case("holm", p.adjust(p, "holm"), p = p)
for (bc in list(c(2, 7), c(31, 12), c(9800, 10200)))
  case("mcnemar", binom.test(bc[1], sum(bc))$p.value, b = bc[1], c = bc[2])
for (xn in list(c(4, 30), c(29, 30), c(19500, 20000), c(700000, 1000000)))
  case("clopper-pearson", binom.test(xn[1], xn[2])$conf.int[1:2], x = xn[1], n = xn[2], level = 0.95)
for (xn in list(c(4, 30), c(29, 30)))
  case("wilson", suppressWarnings(prop.test(xn[1], xn[2], correct = FALSE)$conf.int[1:2]), x = xn[1], n = xn[2], level = 0.95)
a <- round(rnorm(14, 1), 4); b <- round(rnorm(9, 0.2, 3), 4)
w <- t.test(a, b)
case("welch", c(w$statistic, w$p.value, w$parameter), a = a, b = b)
# Far tails keep their relative precision.
t <- t.test(a + 40, mu = 0)
case("t-test", c(t$statistic, t$p.value, t$parameter, mean(a + 40) / sd(a + 40)),
     groups = 1:14, values = a + 40, null = 0)

# Variance components of a balanced nested design by analysis of variance.
d <- expand.grid(sample = 1:4, item = 1:3, cluster = 1:6)
set.seed(9)
d$value <- round(rnorm(6)[d$cluster] + rnorm(18)[d$item + 3 * (d$cluster - 1)] + rnorm(72), 4)
ms <- anova(lm(value ~ factor(cluster) / factor(item), d))$`Mean Sq`
case("components", c((ms[1] - ms[2]) / 12, (ms[2] - ms[3]) / 4, ms[3]),
     groups = d$cluster, items = d$item, values = d$value)

out <- list(command = "Rscript make_r.R",
            versions = list(R = paste(R.version$major, R.version$minor, sep = "."),
                            clubSandwich = as.character(packageVersion("clubSandwich"))))
head <- toJSON(out, auto_unbox = TRUE)
body <- vapply(cases, function(x) as.character(toJSON(x, auto_unbox = TRUE, digits = NA)), "")
writeLines(paste0(sub("}$", "", head), ', "cases": [\n', paste(body, collapse = ",\n"), "\n]}"), "r.json")
