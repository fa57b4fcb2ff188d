// Roslyn's view of files: < list of paths > JSON lines. Each line: {definitions: [[qualified name, kind, first line, last
// line]], imports: [[line, module, name, alias]], docs: [[qualified name, first line]], disabled: [[first line, last line]]
// of what `#if` leaves out}, or null where Roslyn finds a syntax error.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

class CSharpOutline
{
    static readonly CSharpParseOptions Options = new CSharpParseOptions(LanguageVersion.Preview, DocumentationMode.Parse);
    static readonly Dictionary<SyntaxKind, string> Kinds = new Dictionary<SyntaxKind, string>
    {
        [SyntaxKind.ClassDeclaration] = "class", [SyntaxKind.StructDeclaration] = "struct",
        [SyntaxKind.InterfaceDeclaration] = "interface", [SyntaxKind.EnumDeclaration] = "enum",
    };

    readonly List<string> definitions = new List<string>(), imports = new List<string>(), docs = new List<string>();
    readonly HashSet<string> fields = new HashSet<string>();
    readonly SyntaxTree tree;

    CSharpOutline(SyntaxTree tree) => this.tree = tree;

    static void Main()
    {
        for (string path; (path = Console.ReadLine()) != null;)
        {
            var tree = CSharpSyntaxTree.ParseText(File.ReadAllText(path), Options);
            bool fails = tree.GetDiagnostics().Any(found => found.Severity == DiagnosticSeverity.Error);
            Console.WriteLine(fails ? "null" : new CSharpOutline(tree).Outline());
        }
    }

    string Outline()
    {
        var root = tree.GetCompilationUnitRoot();
        Walk(root, null);
        var disabled = root.DescendantTrivia(descendIntoTrivia: true).Where(trivia => trivia.IsKind(SyntaxKind.DisabledTextTrivia))
            .Select(trivia => $"[{Line(trivia.Span.Start)}, {Line(trivia.Span.End - 1)}]");
        return $"{{\"definitions\": [{string.Join(", ", definitions)}], \"imports\": [{string.Join(", ", imports)}], "
            + $"\"docs\": [{string.Join(", ", docs)}], \"disabled\": [{string.Join(", ", disabled)}]}}";
    }

    int Line(int offset) => tree.GetText().Lines.GetLineFromPosition(offset).LineNumber + 1;

    void Walk(SyntaxNode node, string owner)
    {
        if (node is UsingDirectiveSyntax directive) Imported(directive);
        string inner = owner;
        foreach (var named in Names(node)) inner = Define(node, named.Item1, named.Item2, owner);
        foreach (var child in node.ChildNodes()) Walk(child, inner);
    }

    string Define(SyntaxNode node, string name, string kind, string owner)
    {
        string qualified = owner == null ? name : owner + "." + name;
        if ((kind == "variable" || kind == "constant") && !fields.Add(qualified)) return qualified;
        definitions.Add($"[\"{qualified}\", \"{kind}\", {Line(node.Span.Start)}, {Line(node.Span.End - 1)}]");
        if (node.GetLeadingTrivia().Any(trivia => trivia.HasStructure && trivia.GetStructure() is DocumentationCommentTriviaSyntax))
            docs.Add($"[\"{qualified}\", {Line(node.Span.Start)}]");
        return qualified;
    }

    // (name, kind) of what a node defines; fields and events define several.
    static IEnumerable<(string, string)> Names(SyntaxNode node)
    {
        if (node is NamespaceDeclarationSyntax space) return One(Squeezed(space.Name), "module");
        if (node is BaseTypeDeclarationSyntax type) return One(type.Identifier.ValueText, Kinds[type.Kind()]);
        if (node is DelegateDeclarationSyntax named) return One(named.Identifier.ValueText, "type");
        if (node is EnumMemberDeclarationSyntax member) return One(member.Identifier.ValueText, "constant");
        if (node is MethodDeclarationSyntax method) return One(method.Identifier.ValueText, "method");
        if (node is ConstructorDeclarationSyntax constructor) return One(constructor.Identifier.ValueText, "method");
        if (node is DestructorDeclarationSyntax destructor) return One(destructor.Identifier.ValueText, "method");
        if (node is OperatorDeclarationSyntax unary) return One(unary.OperatorToken.Text, "method");
        if (node is ConversionOperatorDeclarationSyntax conversion) return One(conversion.ImplicitOrExplicitKeyword.Text, "method");
        if (node is LocalFunctionStatementSyntax local) return One(local.Identifier.ValueText, "function");
        if (node is PropertyDeclarationSyntax property) return One(property.Identifier.ValueText, "property");
        if (node is IndexerDeclarationSyntax) return One("this", "property");
        if (node is EventDeclarationSyntax happening) return One(happening.Identifier.ValueText, "property");
        if (node is BaseFieldDeclarationSyntax field)
            return field.Declaration.Variables.Select(variable => (variable.Identifier.ValueText, Kind(field)));
        return Enumerable.Empty<(string, string)>();
    }

    static string Kind(BaseFieldDeclarationSyntax field)
    {
        bool isReadonly = field.Modifiers.Any(SyntaxKind.StaticKeyword) && field.Modifiers.Any(SyntaxKind.ReadOnlyKeyword);
        bool isConstant = isReadonly || field.Modifiers.Any(SyntaxKind.ConstKeyword);
        return field is EventFieldDeclarationSyntax ? "property" : isConstant ? "constant" : "variable";
    }

    static IEnumerable<(string, string)> One(string name, string kind) => new[] { (name, kind) };

    static string Squeezed(SyntaxNode node) => Regex.Replace(node.ToString(), @"\s", "");

    void Imported(UsingDirectiveSyntax directive)
    {
        bool isStatic = !directive.StaticKeyword.IsKind(SyntaxKind.None);
        var split = directive.Name as QualifiedNameSyntax;
        bool isType = split != null && (isStatic || split.Right is GenericNameSyntax);
        string name = isType ? $"\"{split.Right.Identifier.ValueText}\"" : "null";
        string alias = directive.Alias == null ? "null" : $"\"{directive.Alias.Name}\"";
        imports.Add($"[{Line(directive.Span.Start)}, \"{Squeezed(isType ? split.Left : directive.Name)}\", {name}, {alias}]");
    }
}
