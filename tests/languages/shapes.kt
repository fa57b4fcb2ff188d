#!/usr/bin/env kotlin
@file:JvmName("Shapes")

package com.example.shapes

import java.util.Date
import kotlin.math.*
import com.example.Units as U
import com.example.Color.Companion.parse
import Root

/* no documentation */
const val LIMIT = 10
internal val cache: MutableMap<String, Int> by lazy {
    mutableMapOf()
}
@Volatile
private var state = 0
    get() = field
    set(value) {
        val local = value
        field = local
    }
val String.initials: String get() = take(1)
val <T> List<T>.second: T
    get() = this[1]

/** Names of things. */
typealias Names<T> = Map<String, List<T>>

/**
 * Shout it.
 * @receiver what to shout
 */
@Deprecated("too loud")
@JvmOverloads
public fun <T : Any> T.shout(
    times: Int = 1,
    `in`: () -> Unit = { fun inner() {} },
): String where T : CharSequence {
    val local = 1
    fun helper(): Int = local
    class Local(val field: Int)
    return toString()
}
inline infix fun <reified T> T.`is`(other: Any) = other is T
suspend operator fun Point.plus(o: Point) = this
fun interface Visitor {
    fun visit(p: Point)
}
sealed interface Shape {
    val area: Double
    fun draw() = Unit
    companion object : Visitor {
        const val SIDES = 0
        override fun visit(p: Point) {}
    }
}

/** A point. */
@Serializable
data class Point @Inject internal constructor(
    val x: Int,
    @Transient private var y: Int = 0,
    plain: Int,
    vararg val rest: Int,
) : Base(plain), Shape by Delegate {
    private val lazyValue: Int by lazy { 1 }
    lateinit var name: String
    private val listener = object : Visitor {
        val calls = 0
        override fun visit(p: Point) {}
    }

    init {
        val local = 1
    }
    protected constructor(x: Int) : this(x, 0, 1) {
        println()
    }
    inner class Part
    companion object Factory {
        @JvmStatic fun of(x: Int) = Point(x)
    }
}
abstract class Base(plain: Int) {
    protected abstract val id: Int
    internal open fun run(): Unit {}
    annotation class Nested(val why: String)
}
enum class Color(val rgb: Int) {
    RED(1),
    /** The green. */
    @Deprecated("no") GREEN(2) {
        override fun mix() = 1
    },
    BLUE(3);

    abstract fun mix(): Int
    val name2 = "x"
}
@JvmInline
value class Password(private val s: String)
@Target(AnnotationTarget.CLASS)
annotation class Marker
private object Registry {
    val größe = 1
    object Inner
}
val handler = { x: Int -> val local = x }
fun text() = """
    class Fake { fun no() {} }
"""
@Suppress("a", "(") // why
@Deprecated(message = "no", replaceWith = ReplaceWith("x()"))
const val CEILING = 1
@Serializable
data object Home
@Marker
actual class Late {
    fun done() = 1
}
@Marker
@Late
class Held {
    companion object {
        val q = 1
    }
    fun kept() {}
}
@Marker actual fun last(a: Int): Int {
    return a
}
class Injected
@Marker
internal constructor(val held: Int) {
    fun hold() {}
}

context(a: Injected, b: List<Int>)
private fun needing(c: Int) = c

class Needing {
    context(a: Injected)
    fun need() {}
    context(Injected)
    @Marker fun receive() {}
}
fun giving(block: context(Injected) () -> Int) = 1
