// The Kotlin compiler's view of files: java -cp <the compiler> kotlin.java < list of paths > JSON lines. Each line:
// {definitions: [[qualified name, kind, first line, last line]], imports: [[line, module, name, alias]], docs: [[qualified
// name, first line]]}, or null where the compiler finds a syntax error.
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.jetbrains.kotlin.cli.CompilerConfigurationCreationKt;
import org.jetbrains.kotlin.cli.jvm.compiler.*;
import org.jetbrains.kotlin.com.intellij.openapi.util.Disposer;
import org.jetbrains.kotlin.com.intellij.psi.*;
import org.jetbrains.kotlin.com.intellij.psi.util.PsiTreeUtil;
import org.jetbrains.kotlin.config.*;
import org.jetbrains.kotlin.lexer.KtTokens;
import org.jetbrains.kotlin.psi.*;

public class KotlinOutline {
    final List<String> definitions = new ArrayList<>(), imports = new ArrayList<>(), docs = new ArrayList<>();
    final String text;

    KotlinOutline(String text) {
        this.text = text;
    }

    public static void main(String[] args) throws IOException {
        var configuration = CompilerConfigurationCreationKt.create(CompilerConfiguration.Companion);
        var environment = KotlinCoreEnvironment.createForProduction(
            Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
        var parser = new KtPsiFactory(environment.getProject(), false);
        var paths = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).lines().toList();
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        for (String path : paths) {
            String text = Files.readString(Path.of(path)).replace("\r\n", "\n").replaceFirst("^\ufeff", "");
            out.println(outline(parser.createFile(Path.of(path).getFileName().toString(), text), text));
        }
        out.flush();
        System.exit(0);
    }

    static String outline(KtFile file, String text) {
        if (PsiTreeUtil.findChildOfType(file, PsiErrorElement.class) != null) return "null";
        var outline = new KotlinOutline(text);
        outline.walk(file, null);
        return "{\"definitions\": " + outline.definitions + ", \"imports\": " + outline.imports + ", \"docs\": " + outline.docs + "}";
    }

    void walk(PsiElement element, String owner) {
        String inner = owner;
        if (element instanceof KtPackageDirective directive) {
            if (!directive.getFqName().isRoot()) define(directive, directive.getFqName().asString(), "module", null);
        } else if (element instanceof KtImportDirective directive) {
            imported(directive);
        } else if (element instanceof KtDeclaration declaration && kind(declaration) != null) {
            String name = declaration instanceof KtSecondaryConstructor ? "constructor" : declaration.getName();
            inner = define(declaration, name, kind(declaration), owner);
            if (declaration.getDocComment() != null) docs.add("[\"" + inner + "\", " + line(first(declaration)) + "]");
        }
        for (PsiElement child = element.getFirstChild(); child != null; child = child.getNextSibling()) walk(child, inner);
    }

    String define(PsiElement element, String name, String kind, String owner) {
        String qualified = (owner == null ? "" : owner + ".") + name.replace("\\", "\\\\").replace("\"", "\\\"");
        definitions.add("[\"" + qualified + "\", \"" + kind + "\", " + line(first(element)) + ", " + line(last(element)) + "]");
        return qualified;
    }

    // None for what has no name, and for what is local to a function or block.
    static String kind(KtDeclaration declaration) {
        PsiElement around = declaration.getParent();
        boolean isMember = around instanceof KtClassBody;
        boolean isTop = around instanceof KtFile || around.getParent() instanceof KtScript;
        if (declaration instanceof KtEnumEntry) return "constant";
        if (declaration instanceof KtClass type) return type.isInterface() ? "interface" : type.isEnum() ? "enum" : "class";
        if (declaration instanceof KtObjectDeclaration object) return object.isObjectLiteral() ? null : "class";
        if (declaration instanceof KtSecondaryConstructor) return "method";
        if (declaration instanceof KtNamedFunction function)
            return function.getNameIdentifier() == null ? null : isMember ? "method" : "function";
        if (declaration instanceof KtProperty property)
            return !isMember && !isTop ? null : property.hasModifier(KtTokens.CONST_KEYWORD) ? "constant" : "property";
        if (declaration instanceof KtParameter parameter) return parameter.hasValOrVar() ? "property" : null;
        return declaration instanceof KtTypeAlias ? "type" : null;
    }

    void imported(KtImportDirective directive) {
        var name = directive.getImportedFqName();
        boolean isSimple = !directive.isAllUnder() && name.parent().isRoot();
        String module = (directive.isAllUnder() || isSimple ? name : name.parent()).asString();
        String imported = directive.isAllUnder() ? "\"*\"" : isSimple ? "null" : "\"" + name.shortName().asString() + "\"";
        String alias = directive.getAliasName() == null ? "null" : "\"" + directive.getAliasName() + "\"";
        imports.add("[" + line(first(directive)) + ", \"" + module + "\", " + imported + ", " + alias + "]");
    }

    // Comments are part of what they stand before or behind; so is what separates the entries of an enum.
    static int first(PsiElement element) {
        PsiElement leaf = PsiTreeUtil.getDeepestFirst(element);
        while (isBlank(leaf)) leaf = PsiTreeUtil.nextLeaf(leaf);
        return leaf.getTextRange().getStartOffset();
    }

    static int last(PsiElement element) {
        PsiElement leaf = PsiTreeUtil.getDeepestLast(element);
        while (isBlank(leaf)) leaf = PsiTreeUtil.prevLeaf(leaf);
        return leaf.getTextRange().getEndOffset() - 1;
    }

    static boolean isBlank(PsiElement leaf) {
        return leaf.getTextLength() == 0 || leaf instanceof PsiWhiteSpace || leaf.getParent() instanceof KtEnumEntry && leaf.textMatches(";")
            || PsiTreeUtil.getParentOfType(leaf, PsiComment.class, false) != null;
    }

    int line(int offset) {
        return 1 + (int) text.substring(0, offset).chars().filter(c -> c == '\n').count();
    }
}
