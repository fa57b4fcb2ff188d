// Shapes.
library shapes;

import 'dart:math' as math;
import 'package:shop/money.dart' show Money, Price;
export "src/circle.dart";
part 'shapes.g.dart';

/// A thing with an area.
abstract class Shape {
  const Shape(this.name, {this.size = 1});
  Shape.empty() : name = '', size = 0;
  factory Shape.from(Map<String, dynamic> json) => Circle(json['r'] as double);
  final String name;
  final int size;
  static const int limit = 10, other = 2;
  late final List<Map<String, int>> _cache = {};
  void Function(int)? onChange;
  /** How large. */
  double get area;
  set area(double value) { print('}$value ${"{"}'); }
  Future<void> load<T extends Object>(T from, {required int count}) async {
    var local = [for (var i in [1]) i];
    void inner() {}
    switch (local) { case [1]: break; default: return; }
  }
  bool operator ==(Object other) => other is Shape;
  @override
  String toString() => 'Shape';
}

mixin Round on Shape {
  double radius = 1;
}
base mixin class Both {}
extension Doubled on int { int get doubled => this * 2; }
extension type Id(int value) {}
class Alias = Shape with Round;
enum Color {
  red('r'), green;
  const Color([this.code = '']);
  final String code;
  bool get isRed => this == red;
}
typedef Callback = void Function(int value);
typedef int Compare(int a, int b);
const pi = 3.14;
final List<int> primes = [2, 3];
String? title;
var counter = 0;
/// Adds.
int add(int a, [int b = 0]) => a + b;
external int native();
(int, String) pair() { return (1, r'\'); }
void _private() {}
/* nested /* comment */ */
void main(List<String> args) async { runApp(const App()); }
/// Of any list.
extension<T> on List<T> {
  // What is first, if anything.
  T? get head => isEmpty ? null : first;
  static const most = 3;
  void drop(int count) { removeRange(0, count); }
}
extension on Color { Color other() => green; }
