#!/usr/bin/python3
"""Writes scipy.json: inputs of our own and what scipy, statsmodels and nltk say.

Debian packages: python3-scipy python3-statsmodels python3-nltk.
Run here: /usr/bin/python3 make_scipy.py
"""
import itertools, json, platform
from fractions import Fraction

import nltk, numpy as np, scipy, statsmodels
from nltk.metrics import agreement, binary_distance
from scipy import stats as st
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import zt_ind_solve_power
from statsmodels.stats.proportion import proportion_confint

rng = np.random.RandomState(20240917)
cases = []


def case(func, want, **given):
    def plain(x):
        if isinstance(x, dict):
            return {k: plain(v) for k, v in x.items()}
        if isinstance(x, (list, tuple, range, np.ndarray)):
            return [plain(v) for v in x]
        if isinstance(x, (np.integer, int)):
            return int(x)
        if isinstance(x, str):
            return x
        return None if np.isnan(x) else float(x)
    cases.append({"func": func, "in": plain(given), "want": plain(want)})


def clustered(sizes, kind):
    groups, values = [], []
    for g, n in enumerate(sizes):
        u = rng.normal()
        for _ in range(n):
            z = 0.7 * u + 0.7 * rng.normal() + 0.3
            groups.append(g)
            values.append({"ternary": 1.0 if z > 0.1 else 0.5 if z > -0.1 else 0.0,
                           "real": round(z, 6), "offset": 100 + round(z * 0.1, 7)}[kind])
    return groups, values


uneven = [1] * 9 + [2, 3, 3, 4, 5, 5, 6, 7, 9, 17]
samples = {f"{kind}/{len(sizes)}": clustered(sizes, kind)
           for kind in ("ternary", "real", "offset") for sizes in (uneven, [4] * 12, [1] * 25, [3, 1, 8])}

# Proportions.
for x, n in [(0, 10), (1, 10), (7, 10), (10, 10), (53, 109), (108, 109), (1990, 2000), (0, 1), (1, 1)]:
    for level in (0.9, 0.95, 0.99):
        case("wilson", proportion_confint(x, n, 1 - level, "wilson"), x=x, n=n, level=level)
        case("clopper-pearson", proportion_confint(x, n, 1 - level, "beta"), x=x, n=n, level=level)
for x, n in [(3.7, 11.2), (0.4, 2.9)]:
    case("clopper-pearson", [st.beta.ppf(.025, x, n - x + 1), st.beta.ppf(.975, x + 1, n - x)], x=x, n=n, level=.95)

# One-sample t, cluster-robust errors, degrees of freedom by dense matrices.
for name, (g, v) in samples.items():
    g, v = np.array(g), np.array(v)
    null = 0.5 if "offset" not in name else 100.0
    t = st.ttest_1samp(v, null)
    # The interval is R's to check: scipy 1.10's t quantile is off by up to 1e-8.
    case("t-test", [t.statistic, t.pvalue, t.df, (v.mean() - null) / v.std(ddof=1)], groups=g, values=v, null=null)
    n = len(v)
    one = np.ones((n, 1))
    fit = OLS(v, one).fit(cov_type="cluster", cov_kwds={"groups": g, "use_correction": False})
    # Its own correction is G/(G-1) (N-1)/(N-k), with k = 1.
    fit1 = OLS(v, one).fit(cov_type="cluster", cov_kwds={"groups": g, "use_correction": True})
    case("cr0", [fit.bse[0]], groups=g, values=v)
    case("cr1", [fit1.bse[0]], groups=g, values=v)
    same = (g[:, None] == g[None, :]).astype(float)
    e = v - v.mean()
    pairs = same.sum() - n
    icc = float("nan") if pairs == 0 else ((same * np.outer(e, e)).sum() - (e * e).sum()) / pairs / ((e * e).sum() / n)
    icc = min(max(icc, 0), 1) if pairs else icc
    case("icc", [icc], groups=g, values=v)
    for rho in (0.0, 0.3, 1.0):
        # Imbens and Kolesar (2016): CR2 = y'BB'y with B's columns (I-H)_g A_g x_g / N.
        resid = np.eye(n) - np.ones((n, n)) / n
        cols = []
        for k in np.unique(g):
            m = g == k
            h = np.eye(m.sum()) - np.ones((m.sum(), m.sum())) / n
            w, q = np.linalg.eigh(h)
            a = q @ np.diag(w ** -0.5) @ q.T
            cols.append(resid[:, m] @ a @ np.ones(m.sum()) / n)
        b = np.array(cols).T
        omega = np.eye(n) * (1 - rho) + rho * same
        m = b.T @ omega @ b
        case("df", [np.trace(m) ** 2 / (m ** 2).sum(), np.sqrt(((b.T @ v) ** 2).sum())], groups=g, values=v, rho=rho)

# Two samples, paired and not.
a, b = rng.normal(0.6, 0.3, 40).round(6), rng.normal(0.5, 0.5, 33).round(6)
w = st.ttest_ind(a, b, equal_var=False)
va, vb = a.var(ddof=1) / 40, b.var(ddof=1) / 33
df = (va + vb) ** 2 / (va ** 2 / 39 + vb ** 2 / 32)
case("welch", [w.statistic, w.pvalue, df], a=a, b=b)
c = (a[:33] * 0.5 + b).round(6)
p = st.ttest_rel(b, c)
case("paired-t", [p.statistic, p.pvalue, p.df], values=b - c)

# Exact tests.
for x, y in [(0, 0), (0, 1), (3, 3), (1, 9), (25, 60), (400, 330), (0, 30)]:
    case("mcnemar", [mcnemar([[5, x], [y, 5]], exact=True).pvalue if x + y else 1.0], b=x, c=y)
rng.normal(size=5 + 12 + 30 + 50 + 250 + 400)  # of cases that are gone: those below keep their numbers
for n in (6, 11):
    x, y = rng.normal(0.4, 1, n).round(6), rng.normal(0, 1, n).round(6)
    r = st.permutation_test((x, y), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf)
    case("sign-flip", [r.pvalue], groups=range(n), values=x - y)
d = rng.binomial(1, .5, 60) - rng.binomial(1, .35, 60)
case("sign-flip", [mcnemar([[0, (d > 0).sum()], [(d < 0).sum(), 0]], exact=True).pvalue],
     groups=range(60), values=d, tolerance=0.01)
for ps in ([0.01, 0.04, 0.03, 0.005], [0.5, 0.5, 0.9], [0.0], rng.uniform(0, .2, 30)):
    case("holm", multipletests(ps, method="holm")[1], p=ps)

# Correlation.
for n in (4, 10, 57):
    x = rng.normal(size=n).round(6)
    y = (0.5 * x + rng.normal(size=n)).round(6)
    xt, yt = np.round(x), np.round(y, 0)
    for u, v in ((x, y), (xt, yt)):
        if len(set(u)) < 2 or len(set(v)) < 2:
            continue
        r = st.pearsonr(u, v)
        ci = r.confidence_interval(.95)
        case("pearson", [r.statistic, r.pvalue, ci.low, ci.high], x=u, y=v, level=.95)
        case("kendall", [st.kendalltau(u, v, variant="b").correlation], x=u, y=v, slack=[0, 0])


def slack_tau(x, y, sx, sy):
    """Tau-b on decimals, exactly: pairs within the slack are ties."""
    def sign(d, s):
        return 0 if abs(d) <= s else 1 if d > 0 else -1
    X, Y = [Fraction(str(v)) for v in x], [Fraction(str(v)) for v in y]
    s = tx = ty = 0
    for i, j in itertools.combinations(range(len(x)), 2):
        u, v = sign(X[i] - X[j], Fraction(str(sx))), sign(Y[i] - Y[j], Fraction(str(sy)))
        s, tx, ty = s + u * v, tx + u * u, ty + v * v
    return s / (tx * ty) ** .5


x = rng.choice([0, 0.5, 1], 80)
y = (0.3 * x + rng.normal(0, .2, 80)).round(2)
case("kendall", [slack_tau(x, y, 0, 0.03)], x=x, y=y, slack=[0, 0.03])
case("kendall", [slack_tau(y, x, 0.03, 0.5)], x=y, y=x, slack=[0.03, 0.5])

# Agreement.
for n, k in ((20, 2), (90, 3), (200, 6)):
    a = rng.randint(0, k, n)
    b = np.where(rng.uniform(size=n) < .6, a, rng.randint(0, k, n))
    t = np.zeros((k, k))
    np.add.at(t, (a, b), 1)
    r = cohens_kappa(t)
    case("cohen", [r.kappa], a=a, b=b)
for n, k, m in ((10, 3, 4), (60, 5, 3)):  # unused draws, so that the following cases stay as they are
    rng.randint(0, k, (n, 1)), rng.uniform(size=(n, m)), rng.randint(0, k, (n, m))


def krippendorff(units):
    """The definition for nominal ratings by ordered pairs, in exact fractions."""
    units = [[v for v in u if not np.isnan(v)] for u in units]
    units = [u for u in units if len(u) > 1]
    flat = [v for u in units for v in u]
    do = sum(Fraction(sum(a != b for a, b in itertools.permutations(u, 2)), len(u) - 1) for u in units)
    de = sum(a != b for a, b in itertools.permutations(flat, 2))
    n = len(flat)
    return float(1 - (do / n) / Fraction(de, n * (n - 1)))


for n, m, gaps in ((12, 4, .2), (40, 2, 0), (50, 5, .4)):
    base = rng.randint(1, 6, (n, 1))
    r = np.clip(base + rng.choice([-1, 0, 0, 0, 1], (n, m)), 1, 5).astype(float)
    r[rng.uniform(size=(n, m)) < gaps] = np.nan
    value = krippendorff(r)
    rows = [(f"c{j}", f"u{i}", r[i, j]) for i in range(n) for j in range(m)  # nltk as a second witness
            if not np.isnan(r[i, j]) and (~np.isnan(r[i])).sum() > 1]
    task = agreement.AnnotationTask(rows, binary_distance)
    assert abs(task.alpha() - value) < 1e-12, (task.alpha(), value)
    case("krippendorff", [value], units=r)

# Planning: normal theory.
for delta, sd, alpha, power in ((.05, .4, .05, .8), (.02, .3, .01, .9), (.2, 1, .05, .8)):
    n = ((st.norm.ppf(1 - alpha / 2) + st.norm.ppf(power)) * sd / delta) ** 2
    if power == .8:  # statsmodels solves with both tails; they agree to 1e-5
        assert abs(zt_ind_solve_power(delta / sd, None, alpha, power, ratio=0) / n - 1) < 1e-5
    case("items", [np.ceil(n)], sd=sd, delta=delta, alpha=alpha, power=power)
    case("mde", [(st.norm.ppf(1 - alpha / 2) + st.norm.ppf(power)) * sd / 10], se=sd / 10, alpha=alpha, power=power)

# Cluster bootstrap: the mean is a ratio of sums over resampled clusters.
for name in ("ternary/19", "real/12"):
    g, v = map(np.array, samples[name])
    n = np.bincount(g).astype(float)
    s = np.bincount(g, weights=v)

    def ratio(i, axis=-1):
        return s[i].sum(axis=axis) / n[i].sum(axis=axis)
    r = st.bootstrap((np.arange(len(n)),), ratio, n_resamples=400000, batch=20000, method="percentile",
                     random_state=np.random.RandomState(1))
    boots = ratio(np.random.RandomState(2).randint(0, len(n), (400000, len(n))))
    case("bootstrap", [boots.mean(), r.standard_error, r.confidence_interval.low, r.confidence_interval.high],
         groups=g, values=v)

out = {"command": "/usr/bin/python3 make_scipy.py",
       "versions": {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
                    "statsmodels": statsmodels.__version__, "nltk": nltk.__version__},
       "cases": cases}
with open("scipy.json", "w") as f:
    head = json.dumps({k: v for k, v in out.items() if k != "cases"})[:-1]
    f.write(head + ', "cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]}\n")
