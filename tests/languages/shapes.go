// Package shapes has areas.
package shapes

import "fmt"
import (
	. "math"
	_ "embed"
	str "strings"
)

type (
	// Point is a place.
	Point struct{ X, Y int }
	Shape[T any] interface {
		~int | Point
		// Area is its size.
		Area(scale float64) (float64, error)
		fmt.Stringer
	}
)

// Kind says which.
type Kind int
type Alias = Point
type visit[T any] func(T) bool

const (
	Round Kind = iota
	square, _
)
const Limit, π = 10, 3.14

var registry = map[string]Kind{
	"round": Round,
}
var (
	debug bool
	_ fmt.Stringer = (*List[int])(nil)
)

//go:generate stringer
type List[T any] struct {
	items []T // in order
	*Point; fmt.Stringer
	by, _ struct{ name string; List[int] }
}

// Add appends.
//
//go:noinline
func (l *List[T]) Add(item T) {
	type local struct{ n int }
	const size = 1
}
func (List[T]) String() string { return str.ToUpper("x") }
func (p *(Point)) Move(dx,
	dy int) {
}
func init() { fmt.Println(Sqrt(2)) }
func asm(x uint64) uint64
func _() {}
