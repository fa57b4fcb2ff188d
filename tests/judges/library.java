// What the graph knows of Java's library, worker/languages/java/library.txt: java library.java. A package, with a star if
// every file has its classes, and a line for each class below it: its name, with `/n` where it is the type of a function that takes n arguments; the public classes above
// it, the nearest first; what its methods and constants give, by that, where all of one name give the same.
import java.lang.reflect.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

public class Library {
    static final List<String> PACKAGES = List.of("java.io", "java.lang", "java.lang.annotation", "java.lang.reflect",
        "java.math", "java.net", "java.nio", "java.nio.charset", "java.nio.file", "java.nio.file.attribute", "java.text",
        "java.time", "java.time.chrono", "java.time.format", "java.time.temporal", "java.util", "java.util.concurrent",
        "java.util.concurrent.atomic", "java.util.concurrent.locks", "java.util.function", "java.util.regex", "java.util.stream");

    static final Set<String> KNOWN = new HashSet<>();

    public static void main(String[] arguments) throws Exception {
        Map<String, List<Class<?>>> classes = new TreeMap<>();
        FileSystem runtime = FileSystems.getFileSystem(URI.create("jrt:/"));
        for (String each : PACKAGES)
            try (Stream<Path> files = Files.list(runtime.getPath("/modules/java.base/" + each.replace('.', '/')))) {
                for (Path file : files.toList()) {
                    String name = file.getFileName().toString();
                    if (!name.endsWith(".class") || name.contains("$") || name.contains("-info")) continue;
                    if (name.matches(".*(Exception|Error)\\.class")) continue;
                    Class<?> found = Class.forName(each + "." + name.replace(".class", ""), false, null);
                    if (Modifier.isPublic(found.getModifiers())) classes.computeIfAbsent(found.getSimpleName(), none -> new ArrayList<>()).add(found);
                }
            }
        classes.values().removeIf(alike -> alike.size() > 1);
        KNOWN.addAll(classes.keySet());
        for (String each : PACKAGES) {
            System.out.println(each.equals("java.lang") ? each + " *" : each);
            for (List<Class<?>> alike : classes.values())
                if (alike.get(0).getPackageName().equals(each)) System.out.println(" " + line(alike.get(0)));
        }
    }

    static String line(Class<?> of) {
        List<String> above = above(of).stream().map(Class::getSimpleName).filter(name -> !name.equals("Object")).toList();
        Map<String, String> gives = gives(of);
        for (Class<?> each : above(of)) for (var given : gives(each).entrySet()) gives.remove(given.getKey(), given.getValue());
        Map<String, List<String>> methods = new TreeMap<>();
        for (var given : gives.entrySet()) if (!given.getValue().isEmpty() || anyGiven(of, given.getKey()))
            methods.computeIfAbsent(given.getValue(), none -> new ArrayList<>()).add(given.getKey());
        String said = methods.entrySet().stream().map(each -> each.getKey() + " " + String.join(" ", each.getValue())).collect(Collectors.joining("; "));
        return of.getSimpleName() + arity(of) + (above.isEmpty() ? "" : " < " + String.join(" ", above)) + (said.isEmpty() ? "" : " : " + said);
    }

    // Whether a class above gives something else, which this one does not.
    static boolean anyGiven(Class<?> of, String name) {
        return above(of).stream().anyMatch(each -> gives(each).containsKey(name));
    }

    static Map<String, String> gives(Class<?> of) {
        Map<String, Set<String>> gives = new TreeMap<>();
        for (Method method : of.getDeclaredMethods())
            if ((method.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0 && !method.isBridge() && !method.isSynthetic())
                gives.computeIfAbsent(method.getName(), none -> new TreeSet<>()).add(given(method.getGenericReturnType()));
        for (Field field : of.getDeclaredFields())
            if ((field.getModifiers() & (Modifier.PUBLIC | Modifier.PROTECTED)) != 0 && !of.isEnum() && !given(field.getGenericType()).equals("byte"))
                gives.computeIfAbsent(field.getName(), none -> new TreeSet<>()).add(given(field.getGenericType()));
        Map<String, String> found = new TreeMap<>();
        gives.forEach((name, types) -> found.put(name, types.size() == 1 ? types.iterator().next() : ""));
        return found;
    }

    // All public classes above one, the nearest first, Object last.
    static Set<Class<?>> above(Class<?> of) {
        Set<Class<?>> found = new LinkedHashSet<>();
        Deque<Class<?>> todo = new ArrayDeque<>(List.of(of));
        while (!todo.isEmpty()) {
            Class<?> at = todo.poll();
            if (at != of && Modifier.isPublic(at.getModifiers()) && at != Object.class) found.add(at);
            if (at.getSuperclass() != null) todo.add(at.getSuperclass());
            todo.addAll(List.of(at.getInterfaces()));
        }
        found.add(Object.class);
        return found;
    }

    // How many arguments the one abstract method of an interface takes.
    static String arity(Class<?> of) {
        if (!of.isInterface()) return "";
        Set<String> own = Arrays.stream(Object.class.getMethods()).map(Library::signature).collect(Collectors.toSet());
        Map<String, Method> left = new TreeMap<>();
        for (Method method : of.getMethods())
            if (Modifier.isAbstract(method.getModifiers()) && !own.contains(signature(method))) left.put(signature(method), method);
        return left.size() == 1 ? "/" + left.values().iterator().next().getParameterCount() : "";
    }

    static String signature(Method method) {
        return method.getName() + Arrays.toString(method.getParameterTypes());
    }

    static String given(Type type) {
        if (type instanceof ParameterizedType applied) return given(applied.getRawType());
        if (type instanceof GenericArrayType array) return given(array.getGenericComponentType()).isEmpty() ? "" : given(array.getGenericComponentType()) + "[]";
        if (!(type instanceof Class<?> of) || of == void.class || of == Object.class) return "";
        if (of.isArray()) return given(of.getComponentType()).isEmpty() ? "" : given(of.getComponentType()) + "[]";
        return of.isPrimitive() || KNOWN.contains(of.getSimpleName()) ? of.getSimpleName() : "";
    }
}
