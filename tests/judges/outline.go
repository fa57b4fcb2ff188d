// The Go parser's view of files: go run outline.go < list of paths > JSON lines.
// Each line: {definitions: [[qualified name, kind, first line, last line, docstring]], imports: [[line, module, name, alias]]},
// or null where the parser finds a syntax error.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

type outline struct {
	Definitions [][]any `json:"definitions"`
	Imports     [][]any `json:"imports"`
}

type visitor struct {
	files *token.FileSet
	out   *outline
}

func main() {
	paths := bufio.NewScanner(os.Stdin)
	lines := json.NewEncoder(os.Stdout)
	for paths.Scan() {
		lines.Encode(read(paths.Text()))
	}
}

func read(path string) *outline {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil
	}
	v := visitor{files, &outline{[][]any{}, [][]any{}}}
	for _, spec := range file.Imports {
		v.imported(spec)
	}
	for _, declaration := range file.Decls {
		v.declared(declaration, nil, true)
	}
	return v.out
}

func (v visitor) imported(spec *ast.ImportSpec) {
	module, _ := strconv.Unquote(spec.Path.Value)
	var name, alias any
	if spec.Name != nil && spec.Name.Name == "." {
		name = "."
	} else if spec.Name != nil {
		alias = spec.Name.Name
	}
	v.out.Imports = append(v.out.Imports, []any{v.line(spec.Pos()), module, name, alias})
}

func (v visitor) line(pos token.Pos) int { return v.files.PositionFor(pos, false).Line }

func (v visitor) add(path []string, kind string, node ast.Node, doc *ast.CommentGroup) {
	if path[len(path)-1] == "_" {
		return
	}
	row := []any{strings.Join(path, "."), kind, v.line(node.Pos()), v.line(node.End() - 1), strings.TrimSpace(doc.Text())}
	v.out.Definitions = append(v.out.Definitions, row)
}

// A function's body is looked through for the types declared there; its constants and variables are local.
func (v visitor) declared(node ast.Decl, path []string, global bool) {
	switch d := node.(type) {
	case *ast.FuncDecl:
		kind := "function"
		if d.Recv != nil {
			kind = "method"
			path = append(path, receiver(d.Recv.List[0].Type))
		}
		path = append(path, d.Name.Name)
		v.add(path, kind, d, d.Doc)
		if d.Body != nil && d.Name.Name != "_" {
			v.types(d.Body, path)
		} else if d.Body != nil {
			v.types(d.Body, path[:len(path)-1])
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			var place ast.Node = spec
			doc := (*ast.CommentGroup)(nil)
			if !d.Lparen.IsValid() {
				place, doc = d, d.Doc
			}
			v.specified(spec, d.Tok, place, doc, path, global)
		}
	}
}

func (v visitor) specified(spec ast.Spec, keyword token.Token, place ast.Node, doc *ast.CommentGroup, path []string, global bool) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Doc != nil {
			doc = s.Doc
		}
		path = append(append([]string{}, path...), s.Name.Name)
		v.add(path, kindOf(s), place, doc)
		v.fields(s.Type, path)
		if contract, ok := s.Type.(*ast.InterfaceType); ok {
			for _, field := range contract.Methods.List {
				for _, name := range field.Names {
					v.add(append(append([]string{}, path...), name.Name), "method", field, field.Doc)
				}
			}
		}
	case *ast.ValueSpec:
		if s.Doc != nil {
			doc = s.Doc
		}
		kind := "variable"
		if keyword == token.CONST {
			kind = "constant"
		}
		for _, name := range s.Names {
			if global {
				v.add(append(append([]string{}, path...), name.Name), kind, place, doc)
			}
		}
		for _, name := range s.Names {
			if global && s.Type != nil {
				v.fields(s.Type, append(append([]string{}, path...), name.Name))
			}
		}
		for _, value := range s.Values {
			if global {
				v.types(value, append(append([]string{}, path...), s.Names[0].Name))
			}
		}
	}
}

// fields adds those of a struct, also of structs in it that have no name.
func (v visitor) fields(of ast.Expr, path []string) {
	structure, ok := of.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range structure.Fields.List {
		names := field.Names
		if len(names) == 0 {
			names = []*ast.Ident{{Name: embedded(field.Type)}}
		}
		for _, name := range names {
			own := append(append([]string{}, path...), name.Name)
			v.add(own, "property", field, field.Doc)
			v.fields(field.Type, own)
		}
	}
}

// embedded is the name that what is embedded goes by.
func embedded(of ast.Expr) string {
	if selector, ok := of.(*ast.SelectorExpr); ok {
		return selector.Sel.Name
	}
	switch e := of.(type) {
	case *ast.StarExpr:
		return embedded(e.X)
	case *ast.IndexExpr:
		return embedded(e.X)
	case *ast.IndexListExpr:
		return embedded(e.X)
	}
	return receiver(of)
}

func (v visitor) types(node ast.Node, path []string) {
	ast.Inspect(node, func(n ast.Node) bool {
		if declaration, ok := n.(*ast.GenDecl); ok {
			v.declared(declaration, path, false)
			return false
		}
		return true
	})
}

func kindOf(spec *ast.TypeSpec) string {
	if spec.Assign.IsValid() {
		return "type"
	}
	switch spec.Type.(type) {
	case *ast.StructType:
		return "struct"
	case *ast.InterfaceType:
		return "interface"
	}
	return "type"
}

func receiver(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return "?"
}
