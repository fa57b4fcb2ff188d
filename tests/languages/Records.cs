global using System.Net;

namespace Example.Records;

/// <summary>A point.</summary>
public record Point(int X, [property: Key] int Y = 1)
{
    public required string Name { get; init; }
}
internal record struct Pair<T>(T Left, T Right);
public sealed record class Leaf : Point;
file class Hidden(int count) { private int twice = 2 * count; }
public interface IParse<TSelf> where TSelf : IParse<TSelf>
{
    static abstract TSelf Parse(string text);
    public static int Count = """
        class Fake { }
        """.Length;
}
