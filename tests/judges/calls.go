// go/types' view of calls: go run calls.go FOLDER OF A MODULE. JSON: {"calls": [[path, line, column in bytes, name,
// [[path, line]], [[path, line]]]], "fields": [[path, line, column, name, [[path, line]]]]}, lines and columns of the name
// that is called, from 1 and 0; without a place where the function is defined elsewhere. Last come the methods of the module
// that implement a method of an interface, which may run. What is imported from other modules is not there, and calls that
// need it are left out, as are those of what a variable holds. Fields are those of structs, where they are named.
package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// project is a module, with those of its packages that something has imported.
type project struct {
	root, module string
	files        *token.FileSet
	library      types.Importer
	imported     map[string]*types.Package
	calls        [][]any
	fields       [][]any
	types        map[*types.Package]bool // those that are judged, with their tests
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	manifest, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		panic(err)
	}
	files := token.NewFileSet()
	p := &project{root, string(moduleLine.FindSubmatch(manifest)[1]), files,
		importer.ForCompiler(files, "source", nil), map[string]*types.Package{}, [][]any{}, [][]any{}, map[*types.Package]bool{}}
	filepath.WalkDir(root, func(folder string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		name := entry.Name()
		if folder != root && (name == "testdata" || name == "vendor" || strings.ContainsAny(name[:1], "._")) {
			return filepath.SkipDir
		}
		p.judge(folder)
		return nil
	})
	implementing := p.implementing()
	for _, call := range p.calls {
		call[5] = implementing(call[5].(*types.Func))
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"calls": p.calls, "fields": p.fields})
}

// Import finds a package of the module, or of the library.
func (p *project) Import(name string) (*types.Package, error) {
	if known, ok := p.imported[name]; ok {
		return known, nil
	}
	if name == p.module || strings.HasPrefix(name, p.module+"/") {
		folder := filepath.Join(p.root, strings.TrimPrefix(name, p.module))
		listed, _ := build.ImportDir(folder, 0)
		if listed == nil || len(listed.GoFiles) == 0 {
			return nil, fmt.Errorf("no package %s", name)
		}
		p.imported[name] = p.check(name, p.parsed(folder, listed.GoFiles), nil)
		return p.imported[name], nil
	}
	if strings.Contains(strings.Split(name, "/")[0], ".") {
		return nil, fmt.Errorf("%s is of another module", name)
	}
	return p.library.Import(name)
}

func (p *project) parsed(folder string, names []string) []*ast.File {
	var found []*ast.File
	for _, name := range names {
		if file, _ := parser.ParseFile(p.files, filepath.Join(folder, name), nil, 0); file != nil {
			found = append(found, file)
		}
	}
	return found
}

func (p *project) check(name string, files []*ast.File, info *types.Info) *types.Package {
	config := types.Config{Importer: p, Error: func(error) {}, FakeImportC: true}
	found, _ := config.Check(name, p.files, files, info)
	return found
}

// judge takes the calls of a folder: of its package with the tests in it, and of the package of the other tests.
func (p *project) judge(folder string) {
	listed, _ := build.ImportDir(folder, 0)
	if listed == nil {
		return
	}
	within, _ := filepath.Rel(p.root, folder)
	name := path.Join(p.module, filepath.ToSlash(within))
	for _, names := range [][]string{append(listed.GoFiles, listed.TestGoFiles...), listed.XTestGoFiles} {
		files := p.parsed(folder, names)
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		p.types[p.check(name, files, info)] = true
		for _, file := range files {
			ast.Inspect(file, func(node ast.Node) bool {
				switch of := node.(type) {
				case *ast.CallExpr:
					p.take(called(of.Fun), info)
				case *ast.Ident:
					p.takeField(of, info)
				}
				return true
			})
		}
	}
}

// called is the name of what is called, or nil.
func called(callee ast.Expr) *ast.Ident {
	switch of := callee.(type) {
	case *ast.ParenExpr:
		return called(of.X)
	case *ast.IndexExpr: // f[int](); of a[0]() the name means a variable
		return called(of.X)
	case *ast.IndexListExpr:
		return called(of.X)
	case *ast.SelectorExpr:
		return of.Sel
	case *ast.Ident:
		return of
	}
	return nil
}

// take notes what a name means that is called.
func (p *project) take(name *ast.Ident, info *types.Info) {
	if name == nil {
		return
	}
	places := [][]any{}
	var function *types.Func
	switch meant := info.Uses[name].(type) {
	case *types.Func:
		function = meant
		if file, line, _ := p.place(meant.Pos()); file != "" {
			places = append(places, []any{file, line})
		}
	case *types.Builtin:
	default: // a conversion, a variable, or nothing that is known
		return
	}
	file, line, column := p.place(name.Pos())
	p.calls = append(p.calls, []any{file, line, column, name.Name, places, function})
}

// takeField notes which field of a struct a name means: that of `a.b` or of `T{b: c}`.
func (p *project) takeField(name *ast.Ident, info *types.Info) {
	meant, ok := info.Uses[name].(*types.Var)
	if !ok || !meant.IsField() {
		return
	}
	places := [][]any{}
	if file, line, _ := p.place(meant.Pos()); file != "" {
		places = append(places, []any{file, line})
	}
	file, line, column := p.place(name.Pos())
	p.fields = append(p.fields, []any{file, line, column, name.Name, places})
}

// place is a file of the project, a line from 1 and a column from 0; of what stands elsewhere the file is "".
func (p *project) place(at token.Pos) (string, int, int) {
	where := p.files.PositionFor(at, false)
	within, err := filepath.Rel(p.root, where.Filename)
	if err != nil || strings.HasPrefix(within, "..") {
		return "", 0, 0
	}
	return filepath.ToSlash(within), where.Line, where.Column - 1
}

// implementing tells the places of the methods that implement a method of an interface. A package is checked several times,
// so that types are compared as they are written.
func (p *project) implementing() func(*types.Func) [][]any {
	methods := map[string][]map[string]*types.Func{} // of the types that have a method, by its name: all of each
	for of := range p.types {
		for _, name := range of.Scope().Names() {
			if made, ok := of.Scope().Lookup(name).(*types.TypeName); ok && !types.IsInterface(made.Type()) {
				own := map[string]*types.Func{}
				set := types.NewMethodSet(types.NewPointer(made.Type()))
				for at := 0; at < set.Len(); at++ {
					own[set.At(at).Obj().Name()] = set.At(at).Obj().(*types.Func)
				}
				for name := range own {
					methods[name] = append(methods[name], own)
				}
			}
		}
	}
	return func(called *types.Func) [][]any {
		places := [][]any{}
		of := interfaceOf(called)
		if of == nil {
			return places
		}
		for _, own := range methods[called.Name()] {
			if file, line, _ := p.place(own[called.Name()].Pos()); file != "" && has(own, of) {
				places = append(places, []any{file, line})
			}
		}
		return places
	}
}

// interfaceOf is the interface that has a method, or nil.
func interfaceOf(method *types.Func) *types.Interface {
	if method == nil || method.Type().(*types.Signature).Recv() == nil {
		return nil
	}
	of, _ := method.Type().(*types.Signature).Recv().Type().Underlying().(*types.Interface)
	return of
}

// has is whether a type has all methods of an interface, as they are written.
func has(own map[string]*types.Func, of *types.Interface) bool {
	for at := 0; at < of.NumMethods(); at++ {
		method := own[of.Method(at).Name()]
		if method == nil || written(method) != written(of.Method(at)) {
			return false
		}
	}
	return true
}

// written is what a method takes and gives, without the names of that.
func written(method *types.Func) string {
	signature, said := method.Type().(*types.Signature), ""
	for _, each := range []*types.Tuple{signature.Params(), signature.Results()} {
		for at := 0; at < each.Len(); at++ {
			said += types.TypeString(each.At(at).Type(), nil) + ", "
		}
		said += "; "
	}
	return said + fmt.Sprint(signature.Variadic())
}
