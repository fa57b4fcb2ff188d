#include <sys/types.h>
#include "x.h"
extern int a;
static int b = 3, *c[2], (*fp)(int);
int f(void);
extern int g(int x) { return x; }
typedef struct { int x; } S, *SP;
typedef struct foo { enum { AA, BB = 2 } k; } foo_t;
typedef int (*cb)(int), arr[3];
struct bar { int y; struct baz { int z; } w; } thebar;
#ifdef X
int cond = 1;
#define MAX(a, b) \
   ((a) > (b))
#else
static const char *const names[] = {
  "a",
};
#endif
void (*signal(int sig, void (*func)(int)))(int) { }
__attribute__((unused)) static void at(void) {}
static void __init kk(void) {}
static DEFINE_MUTEX(mm);
{
  return 0;
}
EXPORT_SYMBOL(kk);
{
#define INNER 1
}
enum color { RED, GREEN } paint;
enum { ANON };
union u { int i; };
struct fwd;
struct fields { int one, *two, three[2][2], *four[2]; unsigned five : 3, six : 2; int (*seven)(int);
  union {
    int h;
    struct { int i; } j;
  } k, l;
  struct { int m; };
};
struct { int n; } noname;
