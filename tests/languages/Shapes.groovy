package shop.shapes

import groovy.transform.CompileStatic
import static java.lang.Math.max as biggest
import shop.money.*

/**
 * A thing with an area.
 */
interface Shape { double area(); int LIMIT = 1 }

@CompileStatic
abstract class Circle<T extends Number> extends Base implements Shape {
    static final String NAME = 'circle {'
    private List<Map<String, T>> sizes = []
    def anything
    int a = 1
    Circle(double radius) { this.radius = radius }
    /** How large. */
    @Override
    double area() {
        def local = { it * 2 }
        if (local) { return 1 } else { return 2 }
    }
    protected <U> List<U> each(Closure<U> body) { sizes.collect { body(it) } }
    void "a feature's name is told"() { expect: 1 == 1 }
    static count() { sizes.size() }
    static void main(String... args) { new Circle(1).area() }
    enum Kind { SMALL(1), LARGE
      int size }
    class Inner { }
}
trait Named { String name = """it's "quoted" {""" }
@interface Marked { String value() default "" }
def script(x) { x }
