/* Licence. */
package com.example.shapes;

import java.util.List;
import java.util.function.*;
import static java.lang.Math.PI;
import static com.example.Units.*; import local.*;

/**
 * What has an area.
 * @param <T> its unit
 */
@FunctionalInterface
public interface Shape<T extends Comparable<T>> {
  int SIDES = 0, CORNERS = 0;
  T area();
  default String name() { return "shape"; }
  private void check() {}
  class Null {}
}

@SuppressWarnings({"unchecked", "class Fake {}"})
abstract class Base implements Shape<Integer>, Comparable<Base> {
  // A line comment is no documentation.
  private static final List<String> NAMES = List.of(
      "a", "b");
  static final Comparator<Base> byName = new Comparator<>() {
    int calls;
    @Override public int compare(Base a, Base b) { return 0; }
  };
  @Deprecated
  protected volatile int width,
      height[] = {1, 2};
  final int größe = 1;

  static { int local = 0; }
  { Runnable r = () -> { int inner = 1; }; }

  /** Make one. */
  protected <U extends Number & Comparable<U>> Base(
      U width, int... rest) throws IllegalStateException {
    this.width = width.intValue();
  }

  public abstract int[] sides()[];
  synchronized native void draw();

  @Override
  public int compareTo(Base other) {
    class Local { int field; void run() {} }
    int local = 0;
    Runnable anonymous = new Runnable() {
      private int dropped;
      public void run() { new Object() { void deep() {} }; }
    };
    return """
        class Text { }
        """.length();
  }
}

enum Color implements Supplier<String> {
  RED, @Deprecated GREEN(2) {
    @Override public String get() { return "g"; }
  },
  /** Like the sky. */
  BLUE { public String get() { return "b"; } };

  private int weight;
  Color(int... weight) {}
  public String get() { return null; }
  enum Empty { }
}

public record Point<T>(@NonNull int x, T... rest) implements Shape<T> {
  public static int count;
  public Point {
    count++;
  }
  Point() { this(0); }
  public static Point<?> of(int x) { return null; }
}

@interface Marker {
  int value() default 1;
  String[] names() default {"a", "b"};
  int LIMIT = 3;
  @interface Nested {}
}

sealed class Tree permits Tree.Leaf { static final class Leaf extends Tree {} private static non-sealed class Odd extends Tree {} };
