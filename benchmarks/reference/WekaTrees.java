// One Weka tree program on one ARFF file, with full digits: prints one JSON object a set of options.
// Usage: java -cp weka.jar WekaTrees.java PROGRAM FILE WANTED OPTIONS [OPTIONS ...]
// PROGRAM: Id3, J48 or REPTree. WANTED: letters t (tree), p (training predictions), c (ten folds), or - for none; or
// h alone: the rows that the program itself keeps aside (J48 -R, REPTree) and the trees before and after it prunes on them.
// OPTIONS: one argument a run, for example "-C 0.25 -M 2"; "" for none.

import java.io.BufferedReader;
import java.io.FileReader;
import java.lang.reflect.Field;
import java.util.Random;
import weka.classifiers.Classifier;
import weka.classifiers.Evaluation;
import weka.classifiers.trees.Id3;
import weka.classifiers.trees.J48;
import weka.classifiers.trees.REPTree;
import weka.classifiers.trees.j48.C45Split;
import weka.classifiers.trees.j48.ClassifierSplitModel;
import weka.classifiers.trees.j48.Distribution;
import weka.core.Attribute;
import weka.core.Instances;
import weka.core.Utils;

public final class WekaTrees {
    private final Instances data;
    private final StringBuilder out = new StringBuilder();

    private WekaTrees(Instances data) {
        this.data = data;
    }

    public static void main(String[] args) throws Exception {
        Instances data = new Instances(new BufferedReader(new FileReader(args[1])));
        data.setClassIndex(data.numAttributes() - 1);
        for (int i = 3; i < args.length; i++) {
            WekaTrees run = new WekaTrees(data);
            if (args[2].equals("h")) {
                run.heldOut(args[0], args[i]);
            } else {
                run.report(args[0], args[2], args[i]);
            }
            System.out.println(run.out);
        }
    }

    private static Classifier make(String program, String options) throws Exception {
        Classifier made = program.equals("Id3") ? new Id3() : program.equals("J48") ? new J48() : new REPTree();
        made.setOptions(Utils.splitOptions(options));
        return made;
    }

    private void report(String program, String wanted, String options) throws Exception {
        Classifier model = make(program, options);
        long start = System.nanoTime();
        model.buildClassifier(data);
        double seconds = (System.nanoTime() - start) / 1e9;
        out.append("{\"options\":").append(text(options)).append(",\"seconds\":").append(seconds);
        if (model instanceof J48) {
            out.append(",\"size\":").append((int) ((J48) model).measureTreeSize());
            out.append(",\"leaves\":").append((int) ((J48) model).measureNumLeaves());
        } else if (model instanceof REPTree) {
            out.append(",\"size\":").append(((REPTree) model).numNodes());
        }
        training(model, wanted.indexOf('p') >= 0);
        if (wanted.indexOf('t') >= 0 && !(model instanceof REPTree)) {
            out.append(",\"tree\":");
            if (model instanceof J48) {
                j48(field(model, J48.class, "m_root"));
            } else {
                id3(model);
            }
            out.append(",\"printed\":").append(text(model.toString()));
        }
        if (wanted.indexOf('c') >= 0) {
            Evaluation folds = new Evaluation(data);
            folds.crossValidateModel(make(program, options), data, 10, new Random(1));
            out.append(",\"ten_fold\":");
            if (data.classAttribute().isNominal()) {
                out.append("{\"correct\":").append(folds.correct()).append(",\"percent\":").append(folds.pctCorrect());
            } else {
                out.append("{\"root_mean_squared_error\":").append(folds.rootMeanSquaredError());
            }
            out.append("}");
        }
        out.append("}");
    }

    // Both programs take one fold of -N, stratified; REPTree shuffles first, J48 takes the rows as they come.
    private void heldOut(String program, String options) throws Exception {
        Classifier whole = make(program, options);
        whole.buildClassifier(data);
        boolean isJ48 = whole instanceof J48;
        int seed = isJ48 ? ((J48) whole).getSeed() : ((REPTree) whole).getSeed();
        int folds = isJ48 ? ((J48) whole).getNumFolds() : ((REPTree) whole).getNumFolds();
        int fold = isJ48 ? folds - 1 : 0;
        Instances numbered = new Instances(data);
        numbered.insertAttributeAt(new Attribute("row number"), data.numAttributes());
        for (int i = 0; i < data.numInstances(); i++) {
            numbered.instance(i).setValue(data.numAttributes(), i);
        }
        Instances[] parts = parts(data, seed, folds, fold, !isJ48);
        Instances[] rows = parts(numbered, seed, folds, fold, !isJ48);
        out.append("{\"program\":").append(text(program)).append(",\"options\":").append(text(options));
        out.append(",\"seconds\":0,\"held_out\":\"");
        for (int i = 0; i < rows[1].numInstances(); i++) {
            out.append(i == 0 ? "" : " ").append((int) rows[1].instance(i).value(data.numAttributes()));
        }
        out.append("\"");
        if (isJ48) {
            out.append(",\"pruned\":");
            j48(field(whole, J48.class, "m_root"));
            out.append("}");
            return;
        }
        // REPTree's own steps one by one, on a tree grown without pruning on the rows that it would grow on.
        Classifier grown = make(program, options + " -P");
        grown.buildClassifier(parts[0]);
        Object root = field(grown, REPTree.class, "m_Tree");
        call(root, "insertHoldOutSet", new Class<?>[] {Instances.class}, parts[1]);
        out.append(",\"grown\":");
        rep(root, true);
        call(root, "reducedErrorPrune", new Class<?>[0]);
        out.append(",\"pruned\":");
        int start = out.length();
        rep(root, false);
        String pruned = out.substring(start);
        int end = out.length();
        rep(field(whole, REPTree.class, "m_Tree"), false);
        boolean same = pruned.equals(out.substring(end));
        out.setLength(end);
        out.append(",\"whole_run_gives_the_same\":").append(same).append("}");
    }

    private static Instances[] parts(Instances all, int seed, int folds, int fold, boolean shuffles) {
        Instances rows = new Instances(all);
        Random random = new Random(seed);
        if (shuffles) {
            rows.randomize(random);
        }
        if (rows.classAttribute().isNominal()) {
            rows.stratify(folds);
        }
        return new Instances[] {rows.trainCV(folds, fold, random), rows.testCV(folds, fold)};
    }

    private void rep(Object node, boolean errors) throws Exception {
        Class<?> type = Class.forName("weka.classifiers.trees.REPTree$Tree");
        int asked = (Integer) field(node, type, "m_Attribute");
        out.append("{");
        if (errors) {
            double[] says = (double[]) field(node, type, "m_ClassProbs");
            double[] held = (double[]) field(node, type, "m_HoldOutDist");
            boolean nominal = data.classAttribute().isNominal();
            if (says == null) {
                out.append("\"empty\":true,");
            } else if (nominal) {
                out.append("\"says\":").append(text(data.classAttribute().value(Utils.maxIndex(says)))).append(",");
            } else {
                out.append("\"says\":").append(number(says[0])).append(",");
            }
            out.append("\"held\":").append(number(nominal ? Utils.sum(held) : held[0]));
            out.append(",\"error\":").append(number((Double) field(node, type, "m_HoldOutError")));
        }
        if (asked < 0) {
            out.append("}");
            return;
        }
        Attribute tested = data.attribute(asked);
        Object[] sons = (Object[]) field(node, type, "m_Successors");
        out.append(errors ? "," : "").append("\"attribute\":").append(text(tested.name()));
        if (tested.isNumeric()) {
            out.append(",\"threshold\":").append(field(node, type, "m_SplitPoint"));
        }
        out.append(",\"branches\":{");
        for (int i = 0; i < sons.length; i++) {
            String name = tested.isNumeric() ? (i == 0 ? "<" : ">=") : tested.value(i);
            out.append(i == 0 ? "" : ",").append(text(name)).append(":");
            rep(sons[i], errors);
        }
        out.append("}}");
    }

    private static void call(Object of, String name, Class<?>[] types, Object... given) throws Exception {
        java.lang.reflect.Method found = of.getClass().getDeclaredMethod(name, types);
        found.setAccessible(true);
        found.invoke(of, given);
    }

    private void training(Classifier model, boolean rows) throws Exception {
        boolean nominal = data.classAttribute().isNominal();
        int correct = 0;
        int none = 0;
        double squares = 0;
        StringBuilder predicted = new StringBuilder();
        StringBuilder shares = new StringBuilder();
        for (int i = 0; i < data.numInstances(); i++) {
            double answer = model.classifyInstance(data.instance(i));
            double truth = data.instance(i).classValue();
            if (!nominal) {
                squares += (answer - truth) * (answer - truth);
                continue;
            }
            if (weka.core.Instance.isMissingValue(answer)) {
                none++;
                predicted.append("?");
                continue;
            }
            correct += answer == truth ? 1 : 0;
            predicted.append(Integer.toString((int) answer, 36));
            if (rows && !(model instanceof Id3)) {
                shares.append(i == 0 ? "" : ",").append('"').append(sparse(model, i)).append('"');
            }
        }
        if (!nominal) {
            out.append(",\"training_mean_squared_error\":").append(squares / data.numInstances());
            return;
        }
        out.append(",\"training_correct\":").append(correct);
        out.append(",\"training_errors\":").append(data.numInstances() - correct - none);
        out.append(",\"training_unclassified\":").append(none);
        if (rows) {
            out.append(",\"predicted\":\"").append(predicted).append('"');
            if (shares.length() > 0) {
                out.append(",\"distribution\":[").append(shares).append("]");
            }
        }
    }

    private String sparse(Classifier model, int row) throws Exception {
        double[] shares = model.distributionForInstance(data.instance(row));
        StringBuilder made = new StringBuilder();
        for (int k = 0; k < shares.length; k++) {
            if (shares[k] > 0) {
                made.append(made.length() == 0 ? "" : " ").append(k).append(':');
                made.append(shares[k] == 1 ? "1" : String.format(java.util.Locale.ROOT, "%.7g", shares[k]));
            }
        }
        return made.toString();
    }

    private void id3(Object node) throws Exception {
        Attribute split = (Attribute) field(node, Id3.class, "m_Attribute");
        if (split == null) {
            double answer = (Double) field(node, Id3.class, "m_ClassValue");
            out.append("{\"leaf\":");
            out.append(Double.isNaN(answer) ? "null" : text(data.classAttribute().value((int) answer))).append("}");
            return;
        }
        Object[] sons = (Object[]) field(node, Id3.class, "m_Successors");
        out.append("{\"attribute\":").append(text(split.name())).append(",\"branches\":{");
        for (int i = 0; i < sons.length; i++) {
            out.append(i == 0 ? "" : ",").append(text(split.value(i))).append(":");
            id3(sons[i]);
        }
        out.append("}}");
    }

    private void j48(Object node) throws Exception {
        Class<?> type = Class.forName("weka.classifiers.trees.j48.ClassifierTree");
        ClassifierSplitModel local = (ClassifierSplitModel) field(node, type, "m_localModel");
        Distribution seen = local.distribution();
        if ((Boolean) field(node, type, "m_isLeaf")) {
            out.append("{\"leaf\":").append(text(data.classAttribute().value(seen.maxClass())));
            boolean empty = (Boolean) field(node, type, "m_isEmpty");
            out.append(",\"n\":").append(number(seen.total()));
            out.append(",\"e\":").append(number(seen.numIncorrect()));
            out.append(empty ? ",\"empty\":true}" : "}");
            return;
        }
        C45Split split = (C45Split) local;
        Attribute tested = data.attribute(split.attIndex());
        Object[] sons = (Object[]) field(node, type, "m_sons");
        out.append("{\"attribute\":").append(text(tested.name()));
        out.append(",\"gain\":").append(number(split.infoGain()));
        out.append(",\"gain_ratio\":").append(number(split.gainRatio()));
        if (tested.isNumeric()) {
            out.append(",\"threshold\":").append(field(split, C45Split.class, "m_splitPoint"));
        }
        out.append(",\"branches\":{");
        for (int i = 0; i < sons.length; i++) {
            String name = tested.isNumeric() ? (i == 0 ? "<=" : ">") : tested.value(i);
            out.append(i == 0 ? "" : ",").append(text(name)).append(":");
            j48(sons[i]);
        }
        out.append("}}");
    }

    private static String number(double value) {
        return value == Math.rint(value) ? Long.toString((long) value)
            : new java.math.BigDecimal(value).round(new java.math.MathContext(12)).stripTrailingZeros().toPlainString();
    }

    private static Object field(Object of, Class<?> type, String name) throws Exception {
        Field found = type.getDeclaredField(name);
        found.setAccessible(true);
        return found.get(of);
    }

    private static String text(String raw) {
        StringBuilder made = new StringBuilder("\"");
        for (char c : raw.toCharArray()) {
            if (c == '"' || c == '\\') {
                made.append('\\').append(c);
            } else if (c < ' ') {
                made.append(String.format("\\u%04x", (int) c));
            } else {
                made.append(c);
            }
        }
        return made.append('"').toString();
    }
}
