// What the graph knows of Kotlin's library, worker/languages/kotlin/library.txt, in the form of library.java:
// java -cp kotlin-compiler.jar library_kotlin.java kotlin-stdlib-sources.jar, both out of npm's `kotlin-compiler`.
// Of Java's library it names the classes of two packages, without their methods.
import java.lang.reflect.*;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import org.jetbrains.kotlin.cli.CompilerConfigurationCreationKt;
import org.jetbrains.kotlin.cli.jvm.compiler.*;
import com.intellij.openapi.util.Disposer;
import org.jetbrains.kotlin.config.*;
import org.jetbrains.kotlin.lexer.KtTokens;
import org.jetbrains.kotlin.psi.*;

public class LibraryKotlin {
    static final List<String> IN_ALL_FILES = List.of("kotlin", "kotlin.collections", "kotlin.io", "kotlin.ranges", "kotlin.sequences", "kotlin.text");
    static final List<String> PACKAGES = List.of("kotlin.coroutines", "kotlin.io.path", "kotlin.properties", "kotlin.random", "kotlin.reflect", "kotlin.time", "kotlin.uuid");
    static final List<String> OF_JAVA = List.of("java.io", "java.lang");

    record Known(String in, List<String> bases, Map<String, Set<String>> gives, String arity) {}

    static final Map<String, Known> CLASSES = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        var configuration = CompilerConfigurationCreationKt.create(CompilerConfiguration.Companion);
        var environment = KotlinCoreEnvironment.createForProduction(Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
        var parser = new KtPsiFactory(environment.getProject(), false);
        try (FileSystem jar = FileSystems.newFileSystem(Path.of(arguments[0]))) {
            for (String each : List.of("/commonMain", "/jvmMain"))
                try (Stream<Path> files = Files.walk(jar.getPath(each))) {
                    for (Path file : files.filter(path -> path.toString().endsWith(".kt")).sorted().toList())
                        read(parser.createFile(file.getFileName().toString(), Files.readString(file).replace("\r\n", "\n")));
                }
        }
        for (String each : OF_JAVA) readJava(each);
        for (String each : IN_ALL_FILES) print(each, true);
        for (String each : PACKAGES) print(each, false);
        print("java.io", false);
        print("java.lang", true);
        System.out.flush();
        System.exit(0);
    }

    static void read(KtFile file) {
        String in = file.getPackageFqName().asString();
        if (!IN_ALL_FILES.contains(in) && !PACKAGES.contains(in)) return;
        for (KtDeclaration each : file.getDeclarations())
            if (each instanceof KtClassOrObject of && of.getName() != null && isSeen(of) && !isAnnotation(of) && !of.getName().matches(".*(Exception|Error)"))
                CLASSES.computeIfAbsent(of.getName(), none -> known(in, of));
    }

    static Known known(String in, KtClassOrObject of) {
        List<String> bases = of.getSuperTypeListEntries().stream().map(each -> given(each.getTypeReference(), Set.of())).filter(name -> !name.isEmpty()).toList();
        Map<String, Set<String>> gives = new TreeMap<>();
        Set<String> generic = generic(of);
        int open = 0, arity = 0;
        for (KtDeclaration each : of.getDeclarations()) {
            if (!isSeen(each)) continue;
            if (each instanceof KtNamedFunction function) {
                Set<String> own = new HashSet<>(generic);
                own.addAll(generic(function));
                gives.computeIfAbsent(function.getName(), none -> new TreeSet<>()).add(given(function.getTypeReference(), own));
                if (!function.hasBody()) { open++; arity = function.getValueParameters().size(); }
            } else if (each instanceof KtProperty property) {
                gives.computeIfAbsent(property.getName(), none -> new TreeSet<>()).add(given(property.getTypeReference(), generic));
                if (!property.hasBody()) open += 2;
            }
        }
        for (KtParameter each : of.getPrimaryConstructorParameters())
            if (each.hasValOrVar() && isSeen(each)) gives.computeIfAbsent(each.getName(), none -> new TreeSet<>()).add(given(each.getTypeReference(), generic));
        boolean isFunctional = of.hasModifier(KtTokens.FUN_KEYWORD) && open == 1;
        return new Known(in, bases, gives, isFunctional ? "/" + arity : "");
    }

    static Set<String> generic(KtTypeParameterListOwner of) {
        return of.getTypeParameters().stream().map(KtTypeParameter::getName).collect(Collectors.toSet());
    }

    static boolean isSeen(KtDeclaration of) {
        return !of.hasModifier(KtTokens.PRIVATE_KEYWORD) && !of.hasModifier(KtTokens.INTERNAL_KEYWORD);
    }

    static boolean isAnnotation(KtClassOrObject of) {
        return of.hasModifier(KtTokens.ANNOTATION_KEYWORD);
    }

    // The last name of a type, "" where it is a type parameter, a function or not written.
    static String given(KtTypeReference type, Set<String> generic) {
        KtTypeElement element = type == null ? null : type.getTypeElement();
        while (element instanceof KtNullableType nullable) element = nullable.getInnerType();
        String name = element instanceof KtUserType user ? user.getReferencedName() : "";
        return generic.contains(name) || name.equals("Any") || name.equals("Unit") || name.equals("Nothing") ? "" : name;
    }

    static void readJava(String in) throws Exception {
        try (Stream<Path> files = Files.list(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base/" + in.replace('.', '/')))) {
            for (Path file : files.sorted().toList()) {
                String name = file.getFileName().toString().replace(".class", "");
                if (!file.toString().endsWith(".class") || name.contains("$") || name.contains("-info") || name.matches(".*(Exception|Error)")) continue;
                Class<?> found = Class.forName(in + "." + name, false, null);
                if (!Modifier.isPublic(found.getModifiers()) || found.isAnnotation()) continue;
                List<String> bases = new ArrayList<>();
                if (found.getSuperclass() != null && found.getSuperclass() != Object.class) bases.add(found.getSuperclass().getSimpleName());
                for (Class<?> each : found.getInterfaces()) bases.add(each.getSimpleName());
                CLASSES.putIfAbsent(name, new Known(in, bases, Map.of(), arity(found)));
            }
        }
    }

    // How many arguments the one abstract method of an interface of Java takes.
    static String arity(Class<?> of) {
        if (!of.isInterface()) return "";
        Set<String> own = Arrays.stream(Object.class.getMethods()).map(LibraryKotlin::signature).collect(Collectors.toSet());
        List<Method> open = Arrays.stream(of.getMethods()).filter(each -> Modifier.isAbstract(each.getModifiers()) && !own.contains(signature(each))).toList();
        return open.stream().map(LibraryKotlin::signature).distinct().count() == 1 ? "/" + open.get(0).getParameterCount() : "";
    }

    static String signature(Method method) {
        return method.getName() + Arrays.toString(method.getParameterTypes());
    }

    static void print(String in, boolean isInAllFiles) {
        System.out.println(isInAllFiles ? in + " *" : in);
        CLASSES.forEach((name, of) -> { if (of.in.equals(in)) System.out.println(" " + line(name, of)); });
    }

    static String line(String name, Known of) {
        Set<String> above = above(name);
        Map<String, List<String>> methods = new TreeMap<>();
        of.gives.forEach((method, types) -> {
            String given = types.size() == 1 ? types.iterator().next() : "";
            boolean isInherited = above.stream().anyMatch(each -> CLASSES.containsKey(each) && CLASSES.get(each).gives.containsKey(method));
            boolean isSame = above.stream().anyMatch(each -> CLASSES.containsKey(each) && Set.of(given).equals(CLASSES.get(each).gives.get(method)));
            if (!isSame && (!given.isEmpty() || isInherited)) methods.computeIfAbsent(given, none -> new ArrayList<>()).add(method);
        });
        String said = methods.entrySet().stream().map(each -> each.getKey() + " " + String.join(" ", each.getValue())).collect(Collectors.joining("; "));
        return name + of.arity + (above.isEmpty() ? "" : " < " + String.join(" ", above)) + (said.isEmpty() ? "" : " : " + said);
    }

    // All classes above one, the nearest first.
    static Set<String> above(String name) {
        Set<String> found = new LinkedHashSet<>();
        Deque<String> todo = new ArrayDeque<>(List.of(name));
        while (!todo.isEmpty()) {
            String at = todo.poll();
            if (!at.equals(name) && !at.equals("Any") && !found.add(at)) continue;
            if (CLASSES.containsKey(at)) todo.addAll(CLASSES.get(at).bases);
        }
        return found;
    }
}
