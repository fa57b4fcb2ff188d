// go/types' view of calls: go run calls.go FOLDER OF A MODULE. JSON: [[path, line, column in bytes, name, [[path, line]]]],
// lines and columns of the name that is called, from 1 and 0; without a place where the function is defined elsewhere. What
// is imported from other modules is not there, and calls that need it are left out, as are those of what a variable holds.
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
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	manifest, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		panic(err)
	}
	files := token.NewFileSet()
	p := &project{root, string(moduleLine.FindSubmatch(manifest)[1]), files,
		importer.ForCompiler(files, "source", nil), map[string]*types.Package{}, [][]any{}}
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
	json.NewEncoder(os.Stdout).Encode(p.calls)
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
		p.check(name, files, info)
		for _, file := range files {
			ast.Inspect(file, func(node ast.Node) bool {
				if call, ok := node.(*ast.CallExpr); ok {
					p.take(called(call.Fun), info)
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
	switch meant := info.Uses[name].(type) {
	case *types.Func:
		if file, line, _ := p.place(meant.Pos()); file != "" {
			places = append(places, []any{file, line})
		}
	case *types.Builtin:
	default: // a conversion, a variable, or nothing that is known
		return
	}
	file, line, column := p.place(name.Pos())
	p.calls = append(p.calls, []any{file, line, column, name.Name, places})
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
