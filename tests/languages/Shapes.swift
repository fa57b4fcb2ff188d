// Shapes and what one may do with them.
import Foundation
@testable import Geometry
import struct Drawing.Canvas
@_exported import Colors

/// A thing with an area.
public protocol Shape: Sendable {
    associatedtype Unit
    /// How large it is.
    var area: Double { get }
    static func unit() -> Self
    func scaled(by factor: Double) -> Self
    init(side: Double)
    subscript(index: Int) -> Double { get }
}

/// A circle.
@frozen
public struct Circle: Shape, Equatable {
    public typealias Unit = Double
    public static let pi = 3.14
    private(set) var radius: Double = 1
    let (a, b) = (1, 2)
    let x, y: Int
    fileprivate lazy var cache: [Int] = {
        let inner = [1]
        return inner
    }()

    public init(radius: Double) { self.radius = radius }
    init?(_ text: String) { nil }

    public var area: Double {
        let local = radius * radius
        return local * Self.pi
    }
    var observed: Int = 0 { didSet { print(oldValue) } }

    @discardableResult
    public mutating func scale(by factor: Double) -> Circle where Double: Numeric {
        func helper() -> Int { 1 }
        return self
    }
    public static func == (left: Circle, right: Circle) -> Bool { true }
    subscript(index: Int) -> Double { radius }
    enum Kind: Int { case small = 1, large; indirect case nested(Kind) }
}

open class Canvas<Element: Shape>: NSObject {
    private class func make() -> Canvas { fatalError() }
    deinit { }
    class Inner { var value = 1 }
    required public convenience override init() { }
    @objc dynamic internal func draw(_ shape: Element, at point: (Int, Int) = (0, 0)) async throws -> Void { }
}

public actor Store {
    private var items: [String: Int] = [:]
    nonisolated func name() -> String { "" }
}

public extension Circle {
    var description: String { "" }
    struct Nested { }
}

extension Canvas.Inner where Element == Circle { func more() {} }
private extension Array { func second() -> Element? { nil } }

indirect enum Tree<T> { case leaf; case node(Tree, Tree) 
  func depth() -> Int { 0 } }

public func area<T: Shape>(of shapes: [T]) -> Double { 0 }
let origin = (0, 0)
public let LIMIT = 10
var counter = 0, other = 1
precedencegroup Power { higherThan: MultiplicationPrecedence }
infix operator **: Power
func ** (a: Int, b: Int) -> Int { a }
prefix operator √
typealias Point = (Int, Int)
@main struct App { static func main() {} }
@propertyWrapper struct Clamped { var wrappedValue: Int }
#if os(Linux)
import Glibc
func platform() {}
#else
import Darwin
func platform2() {}
#endif
@freestanding(expression) macro stringify<T>(_ value: T) -> (T, String) = #externalMacro(module: "M", type: "S")
package func inPackage() {}
/* a
 /* nested */ comment */
func `default`() {}
prefix func - (circle: Circle) -> Circle { circle }
public func ! (circle: Circle) {}
