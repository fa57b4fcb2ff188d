#include "a.h"
namespace a::b { inline namespace v1 {
template <class T> requires C<T>
class Q final : public B {
  void priv() {}
 public:
  Q();
  ~Q() = default;
  virtual void f() = 0;
  bool operator==(const Q&) const { return 1; }
  operator bool() const { return true; }
  Q(const Q&) = delete;
 private:
  int x; static const int k = 3;
  template<class U> void g() {}
  friend void h() {}
  using V = int;
  struct In { int m() { return 1; } };
};
}}
namespace { int z; }
template <> struct Q<int> { enum class E : int { A, B = 2 }; };
template <class T> int& ns::A<T>::f(int) const noexcept { return 1; }
A::~A() {}
A::operator bool() const { return 1; }
bool operator<(A a, B b) { return 1; }
template <typename T> concept C = requires(T t) { t.x; };
using X = int; template <class T> using Y = T;
auto l = [](int x) { return x; };
constexpr int K = 3;
extern "C" { void cf() {} extern int e; int ee; }
extern int g1;
int (*fp)(int), *p2 = 0, arr[3];
[[nodiscard]] static int ff() try { return 1; } catch (...) { return 2; }
class Fwd;
A::A(int x) : b(x) {}
int A::s = 3;
template <class T> constexpr bool v = true;
void* operator new(size_t n) { return 0; }
int operator""_km(long double d) { return 1; }
namespace fs = std::filesystem;
class EXPORT Foo : public Bar { void m() {} };
template <> void spec<int>(int) {}
struct A::Nested { int q; };
void fn() { struct Local { void lm() {} }; auto lam = [] { struct Deep {}; }; }
template <class T> A<T>::A() {}
template <class T> A<T>::A(int) = default;
template <class T> struct A<T>::Node { Node() = default; };
class A::B::C : public D<int> { class E; };
enum class A::Kind { ONE };
class EXPORT Fwd;
struct EXPORT Plain { Plain() = default; int f() { return 1; } };
