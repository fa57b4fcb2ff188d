import com.example.shapes.Shape;

/** The shapes. */
@Deprecated
open module com.example {
  requires java.base;
  requires transitive static java.sql; // no name
  exports com.example.shapes to com.other;
  uses Shape;
  provides Shape with com.example.shapes.Point;
}
