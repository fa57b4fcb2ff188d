package org.shapes
package inner

import scala.collection.mutable
import scala.collection.mutable.{Map => MMap, Set, _}
import java.util.*
import org.other.Thing as Other
import a.b.{given, *}
import cats.syntax.all._, cats.Monad
import org.only

/** A thing with an area. */
trait Shape[T] extends Serializable {
  type Unit
  type Alias = Int
  def area: Double
  protected val name: String
  val x, y = 1
  lazy val slow: Int = { val local = 1; local }
  private[shapes] var count = 0
}

/** A circle. */
@deprecated("no", "1")
final case class Circle(radius: Double, private val secret: Int)(implicit ord: Ordering[Int]) extends Shape[Int] with Product {
  def this(text: String) = this(text.toDouble, 1)
  override def area: Double = {
    def helper(n: Int): Int = n
    val local = 1
    class Local
    radius * radius
  }
  def +(other: Circle): Circle = other
  val (a, b) = (1, 2)
  val List(c, d) = List(1, 2)
  implicit val order: Ordering[Circle] = ???
  private def hidden() = 1
  class Inner { def deep = 1 }
  object Companion
}

class Plain(val open: Int, var changing: String, hidden: Int)
abstract class Base[A <: Int] private (x: Int)
object Circle {
  val Pi = 3.14
  def apply(r: Double): Circle = new Circle(r, 1)
  implicit class Ops(val c: Circle) extends AnyVal { def twice = 2 }
}
case object Empty extends Shape[Int]
package object helpers { def help = 1 }
sealed trait Tree
implicit def convert(a: Int): String = ""

enum Color(val rgb: Int) {
  case Red extends Color(1)
  case Green, Blue
  case Custom(r: Int)
  def mix = 1
}
given intOrd: Ordering[Int] with {
  def compare(x: Int, y: Int): Int = 0
}
given Ordering[String] = ???
extension (c: Circle)
  def diameter: Double = 1
  def bigger(n: Int) = n
extension [T](xs: List[T]) def second = 1
type Id = Int
opaque type Money = Long
def top(x: Int)(using y: Int): Int =
  val z = 1
  z
val topLevel = 1
@main def run(args: String*) = println(1)
inline def f(x: Int) = x
transparent trait T2
export a.b
class Indent:
  def one = 1
  val two = 2
end Indent
/* a /* nested */ b */
def `type`() = 1
object Outer:
  object In:
    def x = 1
