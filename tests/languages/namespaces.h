#include "lib.h"

LIB_BEGIN
LIB_MORE

namespace lib {
LIB_VERSION
inline namespace v1 {

int twice(int x) { return x + x; }
LIB_API std::string named(int a) { return {}; }
static LIB_INLINE const std::map<int, set<int>>& all() { using T = int; return x; }

class LIB_API Lock final : public Base {
  LIB_OBJECT
 public:
  LIB_API ~Lock() {}
  LIB_API operator bool() const { return held(); }
  void take() LIB_LOCKS(this) { go(); }
  int held() const LIB_PURE { return 1; }
};

template <class T> LIB_INLINE Box<T>::Box(T a) : item(a) { }

enum Kind {
  KIND_ONE,
#ifdef LIB_TWO
  KIND_TWO
#endif
};

}
}
LIB_END
