// Licence.
using System;
using static System.Math;
using Names = System.Collections.Generic.List<string>;
using Json = Newtonsoft.Json;
extern alias Old;

namespace Example.Shapes
{
    using System.Linq;

    /// <summary>How it is called.</summary>
    [Serializable]
    public delegate TResult Transform<in T, out TResult>(T value) where T : class;

    /** What has an area. */
    public interface IShape<T> : IDisposable
    {
        double Area { get; }
        T this[int index] { get; set; }
        event EventHandler Changed;
        void Draw();
        private void Check() { }
    }

    /// <summary>
    /// The base.
    /// </summary>
    [Obsolete("class Fake {}"), DebuggerDisplay("x")]
    public abstract partial class Base<T> : IShape<T>
        where T : struct
    {
        public const int Sides = 4, Corners = 4;
        private static readonly string[] names =
        {
            "a",
        };
        protected internal readonly int width, height = 1;
        volatile int größe;
        static int MAX_COUNT = 3;

        [field: NonSerialized]
        public event EventHandler Changed, Moved;
        public event EventHandler Clicked
        {
            add { }
            remove { }
        }

        static Base() { }
        /// <summary>Make one.</summary>
        protected Base(int width) : this(width, 1) => this.width = width;
        ~Base() { }

        public virtual double Area => Math.Sqrt(2);
        public string Name { get; private protected set; } = "x";
        private protected int Hidden { get { return 1; } }
        public T this[int index] { get => default; set { } }
        T IShape<T>.this[int index] { get => default; set { } }

        public static Base<T> operator +(Base<T> a, Base<T> b) => a;
        public static bool operator true(Base<T> a) { return true; }
        public static implicit operator int(Base<T> a) => 1;
        public static explicit operator string(Base<T> a) { return ""; }

        void IDisposable.Dispose() { }
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        internal static async Task<TOut?> Run<TOut>(
            int count = 1,
            params object[] rest) where TOut : class
        {
            int local = 1;
            [Pure] static int Twice(int x) => 2 * x;
            Func<int, int> lambda = x => { int inner = x; return inner; };
            var anonymous = new { Field = 1 };
            return null;
        }
        public abstract void Draw();
        extern static void Native();

#if DEBUG
        int debugOnly;
        void Trace() { }
#else
        int releaseOnly;
#endif
        #region nested
        protected enum Level : byte { Low, [Obsolete] High = 2 }
        struct Part { public int X; }
        private class Empty { }
        #endregion
    }

    enum Color { Red, Green }
    public readonly ref struct Span { private readonly int length; }
    static class Extensions
    {
        public static string @Shout(this string text) => $"{text} class Fake {{ }}";
        const string Text = @"
            class Fake2 { }";
    }
    namespace Inner { class Deep { } }
}
