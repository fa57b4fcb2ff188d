// What the imports of Java sources mean to javac. Argument: a file of paths. Out: path, line, kind, name of what is
// imported, and the source file of a class; a package has none.
import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.tools.*;

public class ImportTargets {
    public static void main(String[] arguments) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(d -> {}, null, null);
        var sources = manager.getJavaFileObjectsFromStrings(Files.readAllLines(Path.of(arguments[0])));
        var options = List.of("-proc:none", "-XDshould-stop.ifError=FLOW", "-nowarn");
        JavacTask task = (JavacTask) compiler.getTask(null, manager, d -> {}, options, null, sources);
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        task.analyze();
        Trees trees = Trees.instance(task);
        for (CompilationUnitTree unit : units) {
            for (ImportTree tree : unit.getImports()) {
                MemberSelectTree name = (MemberSelectTree) tree.getQualifiedIdentifier();
                boolean part = tree.isStatic() || name.getIdentifier().contentEquals("*");
                Element element = trees.getElement(TreePath.getPath(unit, part ? name.getExpression() : name));
                while (element != null && element.getEnclosingElement() instanceof TypeElement outer) element = outer;
                if (element == null || element.asType().getKind() == javax.lang.model.type.TypeKind.ERROR) continue;
                String source = "";
                if (element instanceof com.sun.tools.javac.code.Symbol.ClassSymbol found && found.sourcefile != null)
                    source = found.sourcefile.getName();
                long line = unit.getLineMap().getLineNumber(trees.getSourcePositions().getStartPosition(unit, tree));
                System.out.println(String.join("\t", unit.getSourceFile().getName(), "" + line, element.getKind().name(),
                    element.toString(), source));
            }
        }
    }
}
