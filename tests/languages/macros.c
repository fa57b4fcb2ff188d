LUA_API lua_CFunction lua_atpanic (lua_State *L, lua_CFunction panicf) { }
static int __must_check foo2(void)
{
}
int ZEXPORT inflateEnd(strm) z_streamp strm; { }
static inline int *h(a) int a; { }
static __always_inline void *kk(void) { }
static noinline void __init k2(int a) { }
static struct foo * __init k3(int a) { }
int foo() __acquires(x) { }
PyMODINIT_FUNC PyInit_x(void) { }
struct LIB_API packed { int a; };
DEFINE_FLAG(int, size, 8,
  "of a (thing)");
int f3(void) {
  ASSERT_HEX(unsigned short, 2badU);
  return 0;
}
// text
DEFINE_LIST(struct list, 'a', f(1, 2))
static int f4 = TIMES(1,
  2);
LIB_API void (f5) (lua_State *L,
  int a) { }
#define FAST(a, b) \
  (a /* one */ + \
   b) /* last */
#define NEXT 1
static int limit __read_mostly = 1;
static struct ops table __initdata __aligned = { 1 };
unsigned long __iomem *registers, __count;
static u32 __plain = 1;
struct list __head;
static DEFINE_PER_CPU(int, reserve);
SYSCALL_DEFINE2(dup, int, a, const char __user *, b)
{
}
static int pass(void __iomem *to, int cpu __maybe_unused, const char __user *from)
  __acquires(lock)
{
}
static char area[16] __aligned(1 << 4) = "a";
__printf(2, 3) void print_all(int a, ...)
{
}
#define say(format, args...) printf(format, ##args)
#define __many(a) \
  DEFINE_MANY(a, b); \
  __one(a) c
struct pair {
  DECLARE_BITMAP(a, 8);
  enum kind kind : 8;
};
static struct pair held(void)
{
  return (struct pair) __raw(a);
}
extern struct pair *data __attribute__((weak));
uint32_t __attribute__((weak)) __divide(uint64_t *n, uint32_t base)
{
}
enum numbers {
#ifdef __NR_one
  __NR_two,
#endif
};
asmlinkage long last(void) { }
int weak __attribute__((weak, section(".a"))) = 1;
