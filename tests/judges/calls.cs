// Roslyn's view of calls: the folder of a project, that of the framework it needs, and what its `#if` are to find. JSON:
// [[path, line, column in bytes, name, [[path, first line]], whether it is defined elsewhere]]; lines and columns of the
// name that is called, lines from 1. Lines of other than ASCII, and calls that Roslyn cannot tell, are left out.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

class CSharpCalls
{
    static string root;

    static void Main(string[] arguments)
    {
        root = Path.GetFullPath(arguments[0]);
        var options = new CSharpParseOptions(LanguageVersion.Preview, preprocessorSymbols: arguments.Skip(2));
        var trees = Directory.GetFiles(root, "*.cs", SearchOption.AllDirectories).OrderBy(path => path, StringComparer.Ordinal)
            .Select(path => CSharpSyntaxTree.ParseText(File.ReadAllText(path), options, path)).ToList();
        var framework = Directory.GetFiles(arguments[1], "*.dll").Select(path => MetadataReference.CreateFromFile(path));
        var unsafely = new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true);
        var compilation = CSharpCompilation.Create("judged", trees, framework, unsafely);
        var errors = compilation.GetDiagnostics().Count(said => said.Severity == DiagnosticSeverity.Error);
        Console.Error.WriteLine($"{trees.Count} files, {errors} errors");
        var found = trees.SelectMany(tree => Calls(tree, compilation.GetSemanticModel(tree))).ToList();
        Console.WriteLine(JsonSerializer.Serialize(found));
    }

    static IEnumerable<object[]> Calls(SyntaxTree tree, SemanticModel model)
    {
        var lines = tree.GetText().Lines;
        foreach (var node in tree.GetRoot().DescendantNodes())
        {
            var name = node is InvocationExpressionSyntax call ? Name(call.Expression)
                : node is ObjectCreationExpressionSyntax made ? Name(made.Type) : null;
            if (name == null) continue;
            if (!(model.GetSymbolInfo(node).Symbol is IMethodSymbol method)) continue;
            if (method.MethodKind == MethodKind.DelegateInvoke || method.MethodKind == MethodKind.LocalFunction) continue;
            var at = name.Value.GetLocation().GetLineSpan().StartLinePosition;
            if (lines[at.Line].ToString().Any(letter => letter > 127)) continue;
            method = (method.ReducedFrom ?? method).OriginalDefinition;
            var places = Places(method.PartialImplementationPart ?? method);
            if (method.MethodKind == MethodKind.Constructor) places = places.Concat(Places(method.ContainingType));
            var listed = places.Select(place => new object[] { place.Item1, place.Item2 }).ToArray();
            yield return new object[]
            {
                Within(tree.FilePath), at.Line + 1, at.Character, name.Value.ValueText, listed, listed.Length == 0,
            };
        }
    }

    static SyntaxToken? Name(ExpressionSyntax of)
    {
        var simple = of as SimpleNameSyntax ?? (of as QualifiedNameSyntax)?.Right ?? (of as AliasQualifiedNameSyntax)?.Name
            ?? (of as MemberAccessExpressionSyntax)?.Name ?? (of as MemberBindingExpressionSyntax)?.Name;
        return simple?.Identifier;
    }

    // Where a declaration begins; also the `#if` right above, with which one begins that has an attribute under a condition.
    static IEnumerable<(string, int)> Places(ISymbol symbol)
    {
        foreach (var where in symbol.DeclaringSyntaxReferences)
        {
            var span = where.GetSyntax().GetLocation().GetLineSpan();
            var line = span.StartLinePosition.Line;
            yield return (Within(span.Path), line + 1);
            if (line > 0 && where.SyntaxTree.GetText().Lines[line - 1].ToString().TrimStart().StartsWith("#if"))
                yield return (Within(span.Path), line);
        }
    }

    static string Within(string path) => Path.GetRelativePath(root, path);
}
