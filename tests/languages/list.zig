//! A list.
const std = @import("std");
const Node = @import("node.zig").Node;

/// What can go wrong.
pub const Error = error{ OutOfMemory, Full };
pub const Kind = enum(u8) { small = 1, large, pub fn name(self: Kind) []const u8 { return "}"; } };
const Value = union(enum) {
    int: i64,
    text: []const u8,
    none,
};

/// Of anything.
pub fn List(comptime T: type) type {
    return struct {
        items: []T,
        nested: struct { a: u8 = '{', b: u8 },

        const Self = @This();
        const State = union(enum) { empty, full: T };
        pub fn push(self: *Self, item: T) error{OutOfMemory}!void {
            const local = struct { x: u8 };
            if (self.items.len > 1) { return error.OutOfMemory; }
            _ = .{ item, local };
        }
        fn hidden(self: Self) ?struct { a: u8 } { _ = self; return null; }
    };
}
pub const Point = extern struct {
    x: f32 = 0,
    y: f32 = 0,
    pub const origin: Point = .{ .x = 0, .y = 0 };
    var count: usize = 0;
};
top_level: u32 = 0,
extern "c" fn puts(text: [*:0]const u8) c_int;
export fn run() void {}
pub inline fn fast(comptime f: fn (u8) u8) void { _ = f; }
threadlocal var buffer: [8]u8 = undefined;
const usage =
    \\ pub fn not() { "
    \\
;
test "a list" {
    var list = List(u8){};
    try list.push(1);
}
comptime { _ = Point; }
pub const @"a name" = 1;
