#include <a.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens. */
int one(int a)
{
#if A
	if (a > 1) {
		struct inner { int b; };
#else
	// Not one: "/*".
	if (a > 2) { /* a
	long one */
#endif
		return f(a,
#ifdef B
			 "b}"
#else
			 "c{"
#endif
			);
	}
	return 0;
}

int two(
#ifdef WITH_NAME
	char *name,
#endif
	int a)
{
	return a;
}

#ifdef WITH_THREE
int three(void) { return 3; }
#else
int three(int a) { return a; }
#endif

#if C
int four(void) {
#elif D
#define FOUR 4
#include "four.h"
int four(int a) {
#endif
	return 4;
}

#ifdef __cplusplus
}
#endif

struct last { int a; };
