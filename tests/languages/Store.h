// A store, as others see it.
#import <Foundation/Foundation.h>
#import "Item.h"
@class Other;
@protocol Delegate;

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, StoreState) { StoreStateOpen = 1, StoreStateClosed };
typedef void (^Completion)(NSError *_Nullable error);
typedef NSString *StoreKey;
#define LIMIT 10
extern NSString *const StoreDidOpen;

/** Those who want to know. */
@protocol StoreDelegate <NSObject>
@optional
- (void)store:(Store *)store didAdd:(NSArray<Item *> *)items;
@end

/// A store.
@interface Store : NSObject <NSCopying> {
    int _count;
}
@property (nonatomic, copy, nullable) NSString *name;
@property (nonatomic) void (^handler)(int, NSString *);
+ (instancetype)storeWithName:(NSString *)name
                        limit:(NSUInteger)limit;
- (BOOL)isOpen;
@end

@interface Store (Private)
- (void)reset;
@end
NS_ASSUME_NONNULL_END
