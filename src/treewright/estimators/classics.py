"""The classics for scikit-learn: ID3, C4.5 and CHAID."""

from __future__ import annotations

from treewright.estimators import signatures
from treewright.estimators.base import Classifier, Regressor
from treewright.estimators.trees import SingleTree


class ID3Classifier(signatures.ID3Classifier, SingleTree, Classifier):
    """ID3, Quinlan's first tree: split by the column with the largest information gain, a branch per level.

    Notes
    -----
    Quinlan 1986, "Induction of decision trees". Information gain is in bits. Numeric columns are refused; the levels of
    ordinal ones are branches, in order. A level that the column has but the node's rows lack gets a branch without
    rows, which predicts like the node, and which ``min_samples_leaf`` does not count. A column is tested once on a
    path: after that it is constant. Growth stops at a pure node and if every column is constant. Ties: the lower
    column.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"sky": ["sun", "sun", "rain", "rain"], "wind": ["no", "yes", "no", "yes"]}
    >>> est = tw.ID3Classifier().fit(table, ["out", "out", "out", "in"])
    >>> print(est.predict({"sky": ["rain"], "wind": ["yes"]})[0])
    in
    """


class C45Classifier(signatures.C45Classifier, SingleTree, Classifier):
    """Quinlan's C4.5: gain ratio, a branch per level, fractional missing values, error-based pruning.

    Notes
    -----
    Quinlan 1993, *C4.5: Programs for Machine Learning*, with the details of J48 in Weka 3.6, whose trees it grows (the
    guide to C4.5 lists the differences). The column of the largest gain ratio among those of at least average gain. A
    cut pays log2(cuts tried) / rows for the choice, leaves a tenth of the rows per class on both sides (at least
    ``min_samples_leaf``, at most 25), and stands at a value of the column. Gains count the known rows only, times their
    share. Ordinal columns are split like numeric ones. Pruned bottom-up by the upper confidence limit of the error.
    Ties within 1e-6: the lower column, the lower cut.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 30, 40, 50, 60, None], "smokes": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> est = tw.C45Classifier().fit(table, ["well", "well", "well", "ill", "ill", "ill"])
    >>> print(est.predict({"age": [33], "smokes": ["no"]})[0])
    well
    """

    _one_target = True


class CHAIDClassifier(signatures.CHAIDClassifier, SingleTree, Classifier):
    """CHAID for classification: levels merged by chi-squared tests, a branch per group of levels.

    Notes
    -----
    Kass 1980; Biggs, de Ville and Suen 1991 for ``exhaustive``. The pair of groups that differs least merges while its
    p-value is above ``alpha_merge`` and more than two are left; a group below ``min_samples_leaf`` merges with any
    p-value. In ordinal and numeric columns only neighbours merge; missing cells then join the group from which they
    differ least, or stay alone, whichever has the smaller adjusted p-value. Merged groups are not split again. The
    column with the smallest adjusted p-value splits the node; ties: the larger statistic, then the lower column. The
    test of a pair leaves out classes that neither group holds. Weights are counts, as in SPSS: a row of weight 2 is two
    rows (but one row for ``min_samples_*``), so weights that are not counts should add up to the number of rows.
    SPSS needs 100 rows to split a node, and 50 in a branch. The impurity in the tree is Gini impurity. One target.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"town": ["A", "B", "C", "D"] * 10, "age": [20 + 7 * at % 40 for at in range(40)]}
    >>> answers = ["yes", "yes", "no", "no"] * 10
    >>> est = tw.CHAIDClassifier().fit(table, answers)
    >>> est.get_n_leaves(), est.predict({"town": ["B", "D"], "age": [1, 1]}).tolist()
    (2, ['yes', 'no'])
    """

    _one_target = True


class CHAIDRegressor(signatures.CHAIDRegressor, SingleTree, Regressor):
    """CHAID for regression: levels merged by F tests, a branch per group of levels.

    Notes
    -----
    As ``CHAIDClassifier``, with the F test of a one-way analysis of variance: of two groups by themselves for merging,
    of all groups for the column. Levels with one row cannot be compared: in a nominal column they merge first. The
    impurity in the tree is the variance.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"town": ["A", "B", "C"] * 4}
    >>> est = tw.CHAIDRegressor().fit(table, [1.0, 1.0, 9.0, 2.0, 2.0, 8.0, 1.0, 2.0, 9.0, 2.0, 1.0, 8.0])
    >>> est.predict({"town": ["B", "C"]})
    array([1.5, 8.5])
    """

    _one_target = True
