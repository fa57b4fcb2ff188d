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
