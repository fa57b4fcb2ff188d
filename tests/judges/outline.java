// javac's view of files: java outline.java < list of paths > JSON lines. Each line: {definitions: [[qualified name, kind,
// first line, last line]], imports: [[line, module, name]]}, or null where javac finds a syntax error.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import com.sun.tools.javac.code.Flags;
import com.sun.tools.javac.tree.JCTree.JCVariableDecl;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import javax.tools.*;

public class JavaOutline extends TreePathScanner<Void, Void> {
    static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    static final Map<Tree.Kind, String> KINDS = Map.of(
        Tree.Kind.CLASS, "class", Tree.Kind.RECORD, "class", Tree.Kind.ENUM, "enum",
        Tree.Kind.INTERFACE, "interface", Tree.Kind.ANNOTATION_TYPE, "interface");

    final List<String> definitions = new ArrayList<>(), imports = new ArrayList<>();
    final Deque<String[]> owners = new ArrayDeque<>(); // (qualified name, kind)
    final Set<String> fields = new HashSet<>();
    final SourcePositions positions;
    final CompilationUnitTree unit;

    JavaOutline(SourcePositions positions, CompilationUnitTree unit) {
        this.positions = positions;
        this.unit = unit;
    }

    public static void main(String[] args) throws IOException {
        var paths = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().toList();
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        for (String path : paths) out.println(outline(Path.of(path)));
        out.flush();
    }

    static String outline(Path path) throws IOException {
        var errors = new ArrayList<String>();
        DiagnosticListener<JavaFileObject> listener = found -> {
            if (found.getKind() == Diagnostic.Kind.ERROR) errors.add(found.toString());
        };
        try (var files = COMPILER.getStandardFileManager(listener, null, StandardCharsets.UTF_8)) {
            var task = (JavacTask) COMPILER.getTask(null, files, listener, List.of("-proc:none"), null, files.getJavaFileObjects(path));
            var unit = task.parse().iterator().next();
            if (!errors.isEmpty()) return "null";
            var outline = new JavaOutline(Trees.instance(task).getSourcePositions(), unit);
            outline.scan(unit, null);
            return "{\"definitions\": " + outline.definitions + ", \"imports\": " + outline.imports + "}";
        }
    }

    long first(Tree tree) {
        return unit.getLineMap().getLineNumber(positions.getStartPosition(unit, tree));
    }

    void define(String name, String kind, Tree first, Tree last) {
        String qualified = owners.isEmpty() ? name : owners.peek()[0] + "." + name;
        boolean isField = kind.equals("variable") || kind.equals("constant");
        // Fields of an anonymous class in a method are as local as its variables; of two with one name the first counts.
        if (!isField || (!(!owners.isEmpty() && owners.peek()[1].equals("method")) && fields.add(qualified))) {
            long end = unit.getLineMap().getLineNumber(positions.getEndPosition(unit, last) - 1);
            definitions.add("[\"" + qualified + "\", \"" + kind + "\", " + first(first) + ", " + end + "]");
        }
        owners.push(new String[] {qualified, kind});
    }

    void imported(Tree at, String module, String name) {
        imports.add("[" + first(at) + ", \"" + module + "\", " + (name == null ? "null" : "\"" + name + "\"") + "]");
    }

    @Override public Void visitPackage(PackageTree tree, Void none) {
        define(tree.getPackageName().toString(), "module", tree, tree);
        owners.pop();
        return null;
    }

    @Override public Void visitModule(ModuleTree tree, Void none) {
        define(tree.getName().toString(), "module", tree, tree);
        super.visitModule(tree, none);
        owners.pop();
        return null;
    }

    @Override public Void visitRequires(RequiresTree tree, Void none) {
        imported(tree, tree.getModuleName().toString(), null);
        return null;
    }

    @Override public Void visitImport(ImportTree tree, Void none) {
        var name = (MemberSelectTree) tree.getQualifiedIdentifier();
        imported(tree, name.getExpression().toString(), name.getIdentifier().toString());
        return null;
    }

    @Override public Void visitClass(ClassTree tree, Void none) {
        if (tree.getSimpleName().isEmpty()) return super.visitClass(tree, none);
        define(tree.getSimpleName().toString(), KINDS.get(tree.getKind()), tree, tree);
        super.visitClass(tree, none);
        owners.pop();
        return null;
    }

    @Override public Void visitMethod(MethodTree tree, Void none) {
        if (positions.getEndPosition(unit, tree) < 0) return null; // not in the source
        boolean isConstructor = tree.getName().contentEquals("<init>");
        String owner = owners.peek()[0];
        define(isConstructor ? owner.substring(owner.lastIndexOf('.') + 1) : tree.getName().toString(), "method", tree, tree);
        super.visitMethod(tree, none);
        owners.pop();
        return null;
    }

    @Override public Void visitVariable(VariableTree tree, Void none) {
        if (!(getCurrentPath().getParentPath().getLeaf() instanceof ClassTree type)) return super.visitVariable(tree, none);
        define(tree.getName().toString(), kind(tree, type), tree, lastOfDeclaration(tree, type));
        super.visitVariable(tree, none);
        owners.pop();
        return null;
    }

    static String kind(VariableTree tree, ClassTree type) {
        long flags = ((JCVariableDecl) tree).mods.flags;
        boolean isConstant = (flags & Flags.ENUM) != 0 || (flags & Flags.STATIC) != 0 && (flags & Flags.FINAL) != 0
            || "interface".equals(KINDS.get(type.getKind()));
        return (flags & Flags.RECORD) != 0 ? "property" : isConstant ? "constant" : "variable";
    }

    // `int a, b = 2;`: both have all its lines.
    Tree lastOfDeclaration(VariableTree tree, ClassTree type) {
        long start = positions.getStartPosition(unit, tree);
        return type.getMembers().stream().map(member -> (Tree) member)
            .filter(member -> member instanceof VariableTree && positions.getStartPosition(unit, member) == start)
            .reduce(tree, (before, member) -> member);
    }
}
