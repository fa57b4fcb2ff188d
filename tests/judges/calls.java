// javac's view of calls: java calls.java FOLDER. JSON: [[path, line, column, name, [[path, line]]]], lines and columns of the
// name that is called, from 1 and 0; without a place where the declaration is elsewhere, and with that of the class, too, of a
// constructor. Left out: what javac cannot tell, what nobody has written (`values()`), and names behind other than ASCII.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.type.TypeKind;
import javax.tools.*;

public class JavaCalls extends TreePathScanner<Void, Void> {
    static Path root;
    static Trees trees;
    static final List<String> CALLS = new ArrayList<>();

    final CompilationUnitTree unit;
    final String text;

    JavaCalls(CompilationUnitTree unit) throws Exception {
        this.unit = unit;
        text = unit.getSourceFile().getCharContent(true).toString();
    }

    public static void main(String[] arguments) throws Exception {
        root = Path.of(arguments[0]).toRealPath();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(said -> {}, null, StandardCharsets.UTF_8);
        List<Path> files;
        try (Stream<Path> walked = Files.walk(root)) {
            files = walked.filter(path -> path.toString().endsWith(".java") && !path.endsWith("module-info.java")).sorted().toList();
        }
        var options = List.of("-proc:none", "-XDshould-stop.ifError=FLOW", "-nowarn");
        var task = (JavacTask) compiler.getTask(null, manager, said -> {}, options, null, manager.getJavaFileObjectsFromPaths(files));
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        task.analyze();
        trees = Trees.instance(task);
        for (CompilationUnitTree unit : units) new JavaCalls(unit).scan(unit, null);
        System.out.println(CALLS.stream().collect(Collectors.joining(",\n", "[", "]")));
    }

    static String within(CompilationUnitTree unit) {
        return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    }

    @Override public Void visitMethodInvocation(MethodInvocationTree call, Void none) {
        ExpressionTree callee = call.getMethodSelect();
        String name = callee instanceof MemberSelectTree member ? member.getIdentifier().toString() : callee.toString();
        if (!name.equals("super") && !name.equals("this")) take(callee, name, meant(callee));
        return super.visitMethodInvocation(call, none);
    }

    @Override public Void visitNewClass(NewClassTree call, Void none) {
        Tree type = call.getIdentifier();
        if (type instanceof AnnotatedTypeTree annotated) type = annotated.getUnderlyingType();
        if (type instanceof ParameterizedTypeTree applied) type = applied.getType();
        String name = type instanceof MemberSelectTree member ? member.getIdentifier().toString() : type.toString();
        take(type, name, meant(type), meant(call.getClassBody() == null ? call : above(call.getClassBody())));
        return super.visitNewClass(call, none);
    }

    // What the constructor of a class without a name calls: javac has written that, `super(a)`.
    static Tree above(ClassTree body) {
        for (Tree member : body.getMembers())
            if (member instanceof MethodTree method && method.getName().contentEquals("<init>")
                && method.getBody().getStatements().get(0) instanceof ExpressionStatementTree first
                && first.getExpression() instanceof MethodInvocationTree call) return call.getMethodSelect();
        return body;
    }

    Element meant(Tree tree) {
        return trees.getElement(TreePath.getPath(unit, tree));
    }

    // The name is the last thing that `callee` says. A class stands first, the constructor after it.
    void take(Tree callee, String name, Element... meant) {
        if (Stream.of(meant).anyMatch(each -> each == null || each.asType().getKind() == TypeKind.ERROR)) return;
        long at = trees.getSourcePositions().getEndPosition(unit, callee) - name.length();
        if (at < 0 || !text.startsWith(name, (int) at)) return; // a constant of an enumeration is made without a name
        long line = unit.getLineMap().getLineNumber(at);
        long begin = unit.getLineMap().getStartPosition(line);
        if (text.substring((int) begin, (int) at).chars().anyMatch(letter -> letter > 127)) return;
        List<String> places = Stream.of(meant).flatMap(each -> places(each).stream()).toList();
        Element around = meant[0].getEnclosingElement();
        if (places.isEmpty() && (around.asType().getKind() == TypeKind.ERROR || trees.getTree(around) != null)) return;
        CALLS.add("[\"" + within(unit) + "\", " + line + ", " + (at - begin) + ", \"" + name + "\", " + places + "]");
    }

    // Where a declaration begins; a constructor that nobody has written is nowhere.
    static List<String> places(Element meant) {
        TreePath path = trees.getPath(meant);
        if (path == null) return List.of();
        CompilationUnitTree unit = path.getCompilationUnit();
        SourcePositions positions = trees.getSourcePositions();
        if (positions.getEndPosition(unit, path.getLeaf()) < 0) return List.of();
        long line = unit.getLineMap().getLineNumber(positions.getStartPosition(unit, path.getLeaf()));
        return List.of("[\"" + within(unit) + "\", " + line + "]");
    }
}
