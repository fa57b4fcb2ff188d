#import "Store.h"
@import UIKit;

static const int kLimit = 3;
static NSString *const Name = @"it's {";

/* Adds. */
static int add(int a, int b) {
    return a + b;
}
struct Point { int x; };

@interface Store ()
@property (readwrite) int count;
@end

@implementation Store
@synthesize name = _name;

+ (instancetype)storeWithName:(NSString *)name limit:(NSUInteger)limit {
    Store *store = [[self alloc] init];
    store.handler = ^(int a, NSString *b) { NSLog(@"}"); };
    return store;
}
- (BOOL) isOpen
{
    if (self.count > 1) {
        return YES;
    }
    return NO;
}
- (void)reset {}
@end
#define MAX_OF(a, b) \
  ((a) > (b) ? (a) : (b))
int main(int argc, char *argv[]) { @autoreleasepool { return 0; } }
typedef enum : NSUInteger {
    LevelNone,
    LevelError
} Level;
typedef struct {
    int x;
} Place;
struct { int y; } things;
enum { First, Second };
